import { constants, copyFileSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';

import { messageOf } from '../../sdk/index.ts';
import { lossIn } from '../sqlite/log-file.ts';
import { syncPath } from './durable.ts';

const infix = '-wal.damaged-';
/** Copies that are kept, the newest ones. */
const maxKept = 3;

const remedy = 'check the disk, and restore a backup if changes are missing';

/** Commits that are in a damaged log and cannot be read. */
export interface LostCommits {
  readonly sentence: string;
  /** A copy of the log could be kept; not on a full disk. */
  readonly isKept: boolean;
}

/** Says what a start will lose, since the log of `file` is damaged; undefined if it loses nothing. */
export function lossSentence(file: string): string | undefined {
  const loss = lossIn(file);
  return loss === undefined
    ? undefined
    : `${basename(file)}-wal is damaged, and ${loss.commits === 1 ? 'one committed change' : `${loss.commits} committed changes`} behind the damage cannot be read`;
}

/** Looks for lost commits, and copies the log that has them before SQLite overwrites it. */
export function keepLost(file: string): LostCommits | undefined {
  const sentence = lossSentence(file);
  if (sentence === undefined) {
    return undefined;
  }
  const numbers = numbersOf(file);
  const copy = `${file}${infix}${Math.max(0, ...numbers) + 1}`;
  try {
    copyFileSync(`${file}-wal`, copy, constants.COPYFILE_EXCL);
    syncPath(copy);
    syncPath(dirname(file));
  } catch (error) {
    // A full disk must not keep svc from starting.
    rmSync(copy, { force: true });
    const cause = messageOf(error);
    return {
      sentence: `${sentence}; no copy of the log could be kept (${cause}); ${remedy}`,
      isKept: false,
    };
  }
  for (const number of numbers.slice(0, -(maxKept - 1))) {
    rmSync(`${file}${infix}${number}`, { force: true });
  }
  return { sentence: `${sentence}; the log is kept as ${basename(copy)}; ${remedy}`, isKept: true };
}

/** Reports lost commits for as long as somebody may miss them: until the copies are deleted. */
export function lossReport(file: string, lost: LostCommits | undefined): string | undefined {
  const copies = keptLogs(file).map((path) => basename(path));
  if (copies.length === 0) {
    return lost?.isKept === false ? lost.sentence : undefined;
  }
  const named = copies.join(', ');
  return `committed changes were lost because the log of ${basename(file)} was damaged (kept as ${named}); ${remedy}, then delete ${named}`;
}

/** Copies that are still there, the newest last. */
const keptLogs = (file: string): readonly string[] =>
  numbersOf(file).map((number) => `${file}${infix}${number}`);

function numbersOf(file: string): number[] {
  const start = `${basename(file)}${infix}`;
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((one, other) => one - other);
}
