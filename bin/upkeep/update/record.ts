import { existsSync, lchownSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { syncPath, writeDurably } from '../../../core/storage/index.ts';

/**
 * Returns the names next to the program that an update uses; all in one folder, so that each move
 * is one rename.
 */
export const besides = (program: string) => ({
  /** Fetched, checked and tried; until the switch. */
  next: `${program}.next`,
  previous: `${program}.previous`,
  /** Card of the previous version, with the time since which it has been that. */
  previousCard: `${program}.previous.json`,
  record: `${program}.update.json`,
  key: `${program}.release-key`,
  lock: `${program}.update.lock`,
});

/** An update that has not proved itself: from before the switch until the new version has held, or the one before is back. */
export interface UpdateRecord {
  readonly id: string;
  readonly state: 'trial' | 'back';
  readonly from: string;
  readonly to: string;
  readonly dataDir: string;
  readonly beganAt: number;
  readonly deadlineMs: number;
  /** Time that it must serve once it is ready. */
  readonly holdMs: number;
  /** Number of starts of the new version before it held. */
  readonly starts: number;
  readonly reason?: string;
  /** A backup that takes the place of the data before the first start. */
  readonly restore?: string;
}

/**
 * Mark in the data folder, which svc may write even if it may not write to its program: where the
 * record is, and its outcome.
 */
export interface UpdateMark {
  readonly id: string;
  readonly program: string;
  /** Time when the new version was first ready; what it has acknowledged since is kept. */
  readonly readyAt?: number;
  /** When it had served for long enough. */
  readonly heldAt?: number;
  readonly takenBack?: {
    readonly from: string;
    readonly to: string;
    readonly reason: string;
    readonly at: number;
  };
}

export const markFile = (dataDir: string): string => join(dataDir, 'update.json');

export const readRecord = (program: string): UpdateRecord | undefined =>
  read<UpdateRecord>(besides(program).record);
export const readMark = (dataDir: string): UpdateMark | undefined =>
  read<UpdateMark>(markFile(dataDir));

export const writeRecord = (program: string, record: UpdateRecord): void =>
  writeDurably(besides(program).record, JSON.stringify(record), 0o644);

/** Writes the mark, also as root for the user of the folder, who continues with it. */
export function writeMark(dataDir: string, mark: UpdateMark): void {
  writeDurably(markFile(dataDir), JSON.stringify(mark));
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(dataDir);
    lchownSync(markFile(dataDir), uid, gid);
  }
}

export function removeRecord(program: string): void {
  rmSync(besides(program).record, { force: true });
  syncPath(dirname(program));
}

/** Returns whether the switch was made: until then the file of the waiting version exists. */
export const isSwitched = (program: string): boolean => !existsSync(besides(program).next);

export interface PreviousCard {
  readonly version: string;
  readonly replacedBy: string;
  readonly at: number;
}

export const readPreviousCard = (program: string): PreviousCard | undefined =>
  read<PreviousCard>(besides(program).previousCard);

/**
 * Reads a file that is always written atomically; undefined if it is missing, or from another
 * version.
 */
function read<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
