import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { syncPath, writeDurably } from '../../../core/storage/index.ts';
import { connect } from '../../serve/connect.ts';
import { errors } from './errors.ts';
import { runningSvc, type PluginSummary } from 'svc/cli';
import { answerAsOwner, runAsOwner } from './owner.ts';
import {
  besides,
  isSwitched,
  type PreviousCard,
  readMark,
  readRecord,
  removeRecord,
  type UpdateRecord,
  writeMark,
  writeRecord,
} from './record.ts';
import type { Rehearsed } from './rehearsal.ts';
import type { Keeper } from './service.ts';
import { changedTables, hasHeld, isUnsteady, takeBack } from './trial.ts';

export interface Update {
  /** The file that is replaced; what waits in its place is `<program>.next`. */
  readonly program: string;
  readonly dataDir: string;
  readonly keeper: Keeper;
  readonly deadlineMs: number;
  readonly holdMs: number;
  readonly nativeBinding: string | undefined;
  readonly say: (line: string) => void;
  /** A backup that goes with the version that comes. */
  readonly restore?: string;
}

export interface Tried extends Rehearsed {
  readonly from: string;
}

interface Card {
  readonly version: string;
  readonly release_key?: string;
}

export const versionOf = (file: string, dataDir: string): string =>
  answerAsOwner<Card>(file, ['version'], dataDir).version;
/** The key that it was built with, by which it would know the versions after it. */
export const releaseKeyOf = (file: string, dataDir: string): string | undefined =>
  answerAsOwner<Card>(file, ['version'], dataDir).release_key;

/**
 * Tries a version: its identity, whether it accepts this machine and its settings, and what it
 * makes of a copy of the data. Changes nothing.
 */
export function tryVersion(next: string, program: string, dataDir: string): Tried {
  const [from, version] = [versionOf(program, dataDir), versionOf(next, dataDir)];
  const [before, after] = [verdicts(program, dataDir), verdicts(next, dataDir)];
  // What only the new one looks at was no better before.
  const news = [...after]
    .filter(
      ([subject, verdict]) =>
        verdict === 'fail' && ['ok', 'warn'].includes(before.get(subject) ?? ''),
    )
    .map(([subject]) => subject);
  if (news.length > 0) {
    throw errors.new_problems({ version, from, news: news.join('; ') });
  }
  return { ...answerAsOwner<Rehearsed>(next, ['update', '--rehearse'], dataDir), from, version };
}

/** Returns the verdicts of a version's doctor, by subject. */
function verdicts(program: string, dataDir: string): ReadonlyMap<string, string> {
  const { stdout } = runAsOwner(program, ['doctor', '--json'], dataDir);
  const { findings } = JSON.parse(stdout) as {
    findings: readonly { subject: string; verdict: string }[];
  };
  return new Map(findings.map(({ subject, verdict }) => [subject, verdict]));
}

/** A whole backup but for the telemetry, which no version changes; the last three of this kind stay. */
export function backUp(program: string, dataDir: string): string {
  const folder = join(dataDir, 'backups', 'before-updates');
  const made = answerAsOwner<{ dir: string }>(
    program,
    ['backup', 'create', '--in', folder, '--keep', '3', '--without-telemetry'],
    dataDir,
  );
  return made.dir;
}

/** `unsteady`: how often it was started, though it had been ready. */
export type Outcome =
  | { readonly serves: boolean }
  | { readonly takenBack: string }
  | { readonly unsteady: number };

/**
 * Switches the version: the record, two renames, a restart, and a check of what comes up. Killed at
 * any line, the old version runs or the new one does, and whichever starts continues from the
 * record.
 */
export async function replace(update: Update, { from, version: to }: Tried): Promise<Outcome> {
  const { program, dataDir, keeper, deadlineMs, holdMs, restore, say } = update;
  const runs = runningSvc(dataDir) !== undefined || keeper.isService;
  const active = await activePlugins(dataDir);
  const record: UpdateRecord = {
    id: randomUUID(),
    state: 'trial',
    from,
    to,
    dataDir,
    beganAt: Date.now(),
    deadlineMs,
    holdMs,
    starts: 0,
    ...(restore !== undefined && { restore }),
  };
  writeRecord(program, record);
  writeMark(dataDir, { id: record.id, program });
  switchTo(program, { version: from, replacedBy: to, at: record.beganAt });
  say(`svc ${to} is installed, with ${from} kept next to it`);
  if (!runs) {
    return { serves: false };
  }
  await keeper.restart();
  if (!keeper.isService) {
    say('svc was stopped; start it again, unless a service manager does that');
  }
  return await judged(update, record, active);
}

/**
 * Discards a prepared version. The record first: without the waiting file it would mean a switch.
 */
export function discardNext(program: string): void {
  if (!isSwitched(program)) {
    removeRecord(program);
    rmSync(besides(program).next, { force: true });
  }
}

/** Leaves a complete program in place at every moment. */
function switchTo(program: string, card: PreviousCard): void {
  const { next, previous, previousCard } = besides(program);
  const held = `${previous}.held`;
  rmSync(held, { force: true });
  linkSync(program, held);
  renameSync(held, previous);
  writeDurably(previousCard, JSON.stringify(card), 0o644);
  renameSync(next, program);
  syncPath(dirname(program));
}

/** Waits until the new version has held, or the previous one is back. */
async function judged(
  update: Update,
  record: UpdateRecord,
  active: ReadonlySet<string>,
): Promise<Outcome> {
  const { program, dataDir, keeper, deadlineMs, nativeBinding, say } = update;
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const mark = readMark(dataDir);
    if (mark?.id !== record.id || mark.takenBack !== undefined) {
      return mark?.takenBack === undefined
        ? { serves: true }
        : { takenBack: mark.takenBack.reason };
    }
    if (mark.readyAt !== undefined) {
      break;
    }
    if (performance.now() > deadline) {
      const { starts } = readRecord(program) ?? record;
      if (!keeper.isService && starts === 0) {
        return { serves: false };
      }
      return await undone(update, record, `it was not ready within ${deadlineMs / 1_000} s`);
    }
    await pause(100);
  }
  say(`svc ${record.to} is ready`);
  const failed = await failedOf(dataDir, active);
  if (failed.length > 0 && !changedTables(record, nativeBinding)) {
    return await undone(update, record, `${failed.join(', ')} failed in it`);
  }
  for (
    const until = performance.now() + record.holdMs + deadlineMs;
    performance.now() < until;
    await pause(100)
  ) {
    const mark = readMark(dataDir);
    if (mark?.id !== record.id || mark.heldAt !== undefined) {
      hasHeld(dataDir, { id: record.id, program });
      return { serves: true };
    }
    if (mark.takenBack !== undefined) {
      return { takenBack: mark.takenBack.reason };
    }
  }
  if (isUnsteady(program, dataDir)) {
    return { unsteady: readRecord(program)?.starts ?? 0 };
  }
  // It ended after it had been ready, and nothing starts it again: the next start goes on with the trial.
  return { serves: false };
}

/** Rolls back: nothing runs while the data is restored; afterwards the previous version does. */
async function undone(
  { program, dataDir, keeper, nativeBinding }: Update,
  record: UpdateRecord,
  reason: string,
): Promise<Outcome> {
  // First, so that a start that comes in between does not go on with the new version. The mark, too: a start that counts itself writes the record.
  writeRecord(program, { ...(readRecord(program) ?? record), state: 'back', reason });
  const { from, to } = record;
  writeMark(dataDir, {
    ...(readMark(dataDir) ?? { id: record.id, program }),
    takenBack: { from, to, reason, at: Date.now() },
  });
  await keeper.stop();
  const current = readRecord(program);
  if (current?.id === record.id) {
    takeBack(program, current, reason, nativeBinding);
  }
  await keeper.start();
  return { takenBack: reason };
}

/** Returns the plugins; if unknown, readiness has to suffice. */
async function plugins(dataDir: string): Promise<readonly PluginSummary[]> {
  const running = runningSvc(dataDir);
  return running === undefined
    ? []
    : await connect(running)
        .list<PluginSummary>('/api/v1/plugins')
        .catch(() => []);
}

const activePlugins = async (dataDir: string): Promise<ReadonlySet<string>> =>
  new Set((await plugins(dataDir)).filter(({ state }) => state === 'active').map(({ id }) => id));

const failedOf = async (dataDir: string, active: ReadonlySet<string>): Promise<readonly string[]> =>
  (await plugins(dataDir))
    .filter(({ id, state }) => active.has(id) && state === 'failed')
    .map(({ id }) => id);
