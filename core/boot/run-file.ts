import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { replaceFile } from './memory-file.ts';

/** Where a serving house can be reached, for commands on the same machine. */
export interface RunningHouse {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
}

export function writeRunFile(dataDir: string, url: string, startedAt: string): void {
  replaceFile(join(dataDir, 'run.json'), JSON.stringify({ pid: process.pid, url, started_at: startedAt }));
}

export function removeRunFile(dataDir: string): void {
  rmSync(join(dataDir, 'run.json'), { force: true });
}

/** The house that serves this data folder now, if one does. */
export function runningHouse(dataDir: string): RunningHouse | undefined {
  try {
    const { pid, url } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { pid: number; url: string };
    process.kill(pid, 0);
    return { pid, url, token: readFileSync(join(dataDir, 'keys', 'operator.token'), 'utf8').trim() };
  } catch {
    // No file, no such process, or one that is only just starting: in each case nobody can be reached.
    return undefined;
  }
}
