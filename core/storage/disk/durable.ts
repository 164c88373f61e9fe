import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Puts `content` into `file` so that a crash at any moment leaves the old one or the new, never a part. */
export function writeDurably(file: string, content: string | Buffer, mode = 0o600): void {
  const draft = `${file}.tmp`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', mode);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
  syncPath(dirname(file));
}

/** Makes the content of a file, or the names in a folder, survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
