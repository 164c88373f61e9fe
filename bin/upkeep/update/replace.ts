import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { connect } from '../../serve/connect.ts';
import { errors } from './errors.ts';
import { runningSvc, type PluginSummary } from 'svc/cli';
import { answerAsOwner, runAsOwner } from './owner.ts';
import type { UpdatePlan } from './files.ts';
import type { Rehearsed } from './rehearsal.ts';
import type { Keeper } from './service.ts';
import { Update } from './update.ts';

export interface Replacement {
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
 * Makes the switch and follows it: two renames, a restart, and a look at what comes up. Killed at any line, the old version serves or the new
 * one does, and whichever starts goes on with what is written down.
 */
export async function replace(how: Replacement, { from, version: to }: Tried): Promise<Outcome> {
  const { program, dataDir, keeper, deadlineMs, holdMs, restore, nativeBinding, say } = how;
  const runs = runningSvc(dataDir) !== undefined || keeper.isService;
  const active = await activePlugins(dataDir);
  const plan: UpdatePlan = {
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
  const update = Update.switch(program, plan, nativeBinding);
  say(`svc ${to} is installed, with ${from} kept next to it`);
  if (!runs) {
    return { serves: false };
  }
  await keeper.restart();
  if (!keeper.isService) {
    say('svc was stopped; start it again, unless a service manager does that');
  }
  const early = await untilReady(how, update);
  if (early !== undefined) {
    return early;
  }
  say(`svc ${to} is ready`);
  const failed = await failedOf(dataDir, active);
  return failed.length > 0 && !update.hasChangedTables
    ? await undone(how, update, `${failed.join(', ')} failed in it`)
    : await untilHeld(how, update);
}

/** Returns undefined once the new version is ready; else the outcome of an update that ended before. */
async function untilReady(how: Replacement, update: Update): Promise<Outcome | undefined> {
  const deadline = performance.now() + how.deadlineMs;
  for (;;) {
    const { progress } = update;
    if (progress === undefined) {
      return { serves: true };
    }
    if (progress.takenBack !== undefined) {
      return { takenBack: progress.takenBack.reason };
    }
    if (progress.readyAt !== undefined) {
      return undefined;
    }
    if (performance.now() > deadline) {
      const { starts } = (again(how) ?? update).plan;
      // A start counts itself only when its program is loaded, which takes long on a busy machine.
      return starts === 0 && !how.keeper.isStarting()
        ? { serves: false }
        : await undone(how, update, `it was not ready within ${how.deadlineMs / 1_000} s`);
    }
    await pause(100);
  }
}

/** Waits until the new version has held, or does not. */
async function untilHeld(how: Replacement, update: Update): Promise<Outcome> {
  const until = performance.now() + how.holdMs + how.deadlineMs;
  for (; performance.now() < until; await pause(100)) {
    const { progress } = update;
    if (progress === undefined || progress.heldAt !== undefined) {
      update.forget();
      return { serves: true };
    }
    if (progress.takenBack !== undefined) {
      return { takenBack: progress.takenBack.reason };
    }
  }
  const now = again(how);
  // One that ended after it had been ready, and that nothing starts again: the next start goes on with the trial.
  return now?.isUnsteady ? { unsteady: now.plan.starts } : { serves: false };
}

/** Reads the update again: each start counts itself. */
const again = ({ program, nativeBinding }: Replacement): Update | undefined =>
  Update.of(program, nativeBinding);

/** Gives the update up and rolls it back. Nothing serves while the data go back; what serves then is the version before. */
async function undone(how: Replacement, update: Update, reason: string): Promise<Outcome> {
  // First, so that a start that comes in between does not go on with the new version.
  update.giveUp(reason);
  await how.keeper.stop();
  const current = again(how);
  if (current?.plan.id === update.plan.id) {
    current.rollBack(reason);
  }
  await how.keeper.start();
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
