import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const mebibyte = 1024 * 1024;

/** Mounts a small disk at a folder; false for whoever is not root, whose own disk must not be filled. */
export function mountSmallDisk(folder: string, megabytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], {
      stdio: 'pipe',
    });
    return true;
  } catch {
    return false;
  }
}

export const unmount = (folder: string): void =>
  void execFileSync('umount', ['--lazy', folder], { stdio: 'pipe' });

/** Fills a disk to its last byte from outside; returns what makes the room free again. */
export function fillDisk(folder: string): () => void {
  const filler = join(folder, 'filler');
  const [descriptor, chunk] = [openSync(filler, 'a'), Buffer.alloc(mebibyte, 1)];
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(folder);
      const left = bavail * bsize;
      if (left === 0) {
        break;
      }
      writeSync(descriptor, chunk, 0, Math.min(mebibyte, left));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') {
      throw error;
    }
  } finally {
    closeSync(descriptor);
  }
  return () => rmSync(filler);
}
