import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Syncs the names in a folder, so that they survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Whole or not at all, for its owner's eyes only. */
export function writeWhole(file: string, text: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  move(draft, file);
}

/** One step for every reader, also after a power cut. */
export function move(from: string, to: string): void {
  renameSync(from, to);
  syncPath(dirname(to));
}

export function readSmall(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').slice(0, 64 * 1024);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
