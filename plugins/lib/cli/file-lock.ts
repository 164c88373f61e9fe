import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { errors } from './errors.ts';

/**
 * Age of an abandoned lock: nobody holds one that long, so its owner was stopped, or its pid was
 * reused.
 */
const abandonedMs = 30_000;
const patienceMs = 45_000;

/** Runs `work`, which must take seconds only, while no other process that asks for this lock does. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  const deadline = performance.now() + patienceMs;
  while (!created(file, mine)) {
    if (performance.now() > deadline) {
      throw errors.file_in_use({ file });
    }
    removeIfAbandoned(file);
    await pause(25);
  }
  try {
    return await work();
  } finally {
    if (whenPresent(() => readFileSync(file, 'utf8')) === mine) {
      rmSync(file, { force: true });
    }
  }
}

function created(file: string, mine: string): boolean {
  try {
    writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

function removeIfAbandoned(file: string): void {
  const holder = whenPresent(() => readFileSync(file, 'utf8'));
  const since = whenPresent(() => statSync(file).mtimeMs);
  if (
    holder !== undefined &&
    since !== undefined &&
    (Date.now() - since > abandonedMs || isGone(holder))
  ) {
    rmSync(file, { force: true });
  }
}

function isGone(holder: string): boolean {
  // Empty for the moment between the making of the file and what is written to it.
  const { pid, host } = (holder === '' ? {} : JSON.parse(holder)) as {
    pid?: number;
    host?: string;
  };
  if (pid === undefined || host !== hostname()) {
    return false;
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function whenPresent<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
