import { statfsSync } from 'node:fs';

import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import { placeOf } from './wal/wal-files.ts';

export interface DiskLimits {
  /** Free share of the disk below which nothing is written; default 0.05. */
  readonly minFreeShare?: number;
  /** Free bytes below which nothing is written; default 256 MiB. */
  readonly minFreeBytes?: number;
  /** Time for which the disk's answer is cached; default 1 000. */
  readonly everyMs?: number;
  /** Milliseconds that never jump. */
  readonly now?: () => number;
  /** Asks the disk; for tests. */
  readonly look?: (folder: string) => { readonly free: number; readonly total: number };
}

export interface DiskSpace {
  /** Returns why nothing may be written at this moment; reading continues. */
  refusal(): string | undefined;
  /** Throws `unavailable`, with a time to try again, while there is a refusal. */
  assertWritable(): void;
}

const mebibyte = 1024 * 1024;

/**
 * Refuses writes before the disk is full, and resumes once a tenth more than the minimum is free.
 */
export function diskSpace(folder: string, limits: DiskLimits = {}): DiskSpace {
  const {
    minFreeShare = 0.05,
    minFreeBytes = 256 * mebibyte,
    everyMs = 1_000,
    now = () => performance.now(),
    look = statfs,
  } = limits;
  const place = placeOf(folder);
  let lookedAt = -Infinity;
  let why: string | undefined;

  function judge(): string | undefined {
    try {
      const { free, total } = look(folder);
      const least = Math.max(minFreeBytes, total * minFreeShare) * (why === undefined ? 1 : 1.1);
      return free >= least
        ? undefined
        : `only ${Math.floor(free / mebibyte)} MiB of the disk under ${place} are free, and ${Math.ceil(least / mebibyte)} MiB are needed: nothing new is stored until there is space`;
    } catch (error) {
      return `the disk under ${place} does not answer: ${messageOf(error).replaceAll(folder, place)}`;
    }
  }

  function refusal(): string | undefined {
    const time = now();
    if (time - lookedAt >= everyMs) {
      why = judge();
      lookedAt = time;
    }
    return why;
  }

  return {
    refusal,
    assertWritable() {
      const problem = refusal();
      if (problem !== undefined) {
        throw errors.not_writable({ problem }, { retryAfterSeconds: 30 });
      }
    },
  };
}

function statfs(folder: string): { free: number; total: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}
