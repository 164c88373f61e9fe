import { existsSync, lchownSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { syncPath, writeDurably } from '../../../core/storage/index.ts';

/** The names beside a program that an update uses; all of one folder, so that each move is one rename. */
export const besides = (program: string) => ({
  /** Fetched, checked and tried; until the switch. */
  next: `${program}.next`,
  previous: `${program}.previous`,
  /** What the version before was, and since when it has been that. */
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
  /** How long it must serve once it is ready. */
  readonly holdMs: number;
  /** How often the new version was started before it held. */
  readonly starts: number;
  readonly reason?: string;
  /** A backup that takes the place of the data before the first start. */
  readonly restore?: string;
}

/** In the data folder, which svc may write where it may not write to its program: where the record is, and what became of it. */
export interface UpdateMark {
  readonly id: string;
  readonly program: string;
  /** When the new version was ready for the first time; what it has acknowledged since is not given up. */
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

/** Also by root for the user of the folder, who goes on with it. */
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

/** What the record of a program is about lives in its file: the one that waits for the switch is there until that is made. */
export const isSwitched = (program: string): boolean => !existsSync(besides(program).next);

export interface PreviousCard {
  readonly version: string;
  readonly replacedBy: string;
  readonly at: number;
}

export const readPreviousCard = (program: string): PreviousCard | undefined =>
  read<PreviousCard>(besides(program).previousCard);

/** A file that is only ever written whole; one that is not there, or of another time, is none. */
function read<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
