import { readFileSync, rmSync, writeFileSync } from 'node:fs';

import { errors } from './errors.ts';

/** One update of a program at a time; a lock whose process is gone is nobody's. */
export async function withUpdateLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; !taken(file); tries++) {
    if (tries === 3 || lives(file)) {
      throw errors.update_in_progress({ file });
    }
    rmSync(file, { force: true });
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function taken(file: string): boolean {
  try {
    writeFileSync(file, `${process.pid}`, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

function lives(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
