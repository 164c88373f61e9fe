import { closeSync, fsyncSync, openSync, readFileSync, renameSync } from 'node:fs';
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
