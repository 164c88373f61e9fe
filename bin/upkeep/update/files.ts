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
  /** Note about the version before, with the time since which it has been that. */
  previousNote: `${program}.previous.json`,
  plan: `${program}.update.json`,
  key: `${program}.release-key`,
  lock: `${program}.update.lock`,
});

/** An update as it is written down beside the program: from before the switch until the new version has held, or the one before is back. */
export interface UpdatePlan {
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

/** Progress of an update, in the data folder, which svc may write where it may not write to its program. */
export interface UpdateProgress {
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

export const progressFile = (dataDir: string): string => join(dataDir, 'update.json');

export const readPlan = (program: string): UpdatePlan | undefined =>
  read<UpdatePlan>(besides(program).plan);
export const readProgress = (dataDir: string): UpdateProgress | undefined =>
  read<UpdateProgress>(progressFile(dataDir));

export const writePlan = (program: string, plan: UpdatePlan): void =>
  writeDurably(besides(program).plan, JSON.stringify(plan), 0o644);

/** Writes the progress, also as root for the user of the folder, who continues with it. */
export function writeProgress(dataDir: string, progress: UpdateProgress): void {
  writeDurably(progressFile(dataDir), JSON.stringify(progress));
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(dataDir);
    lchownSync(progressFile(dataDir), uid, gid);
  }
}

export function removePlan(program: string): void {
  rmSync(besides(program).plan, { force: true });
  syncPath(dirname(program));
}

/** Returns true once the switch is made: the version that waits for it has a file of its own until then. */
export const isSwitched = (program: string): boolean => !existsSync(besides(program).next);

/** Version before the current one, which stays beside the program. */
export interface Previous {
  readonly version: string;
  readonly replacedBy: string;
  readonly at: number;
}

export const readPrevious = (program: string): Previous | undefined =>
  read<Previous>(besides(program).previousNote);

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
