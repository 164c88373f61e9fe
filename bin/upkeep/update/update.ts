import { accessSync, constants, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { syncPath, writeDurably } from '../../../core/storage/index.ts';
import { backupBefore, changedTables, restoreBackup } from './data-since.ts';
import { errors } from './errors.ts';
import {
  besides,
  isSwitched,
  type Previous,
  progressFile,
  readPlan,
  readProgress,
  removePlan,
  type UpdatePlan,
  type UpdateProgress,
  writePlan,
  writeProgress,
} from './files.ts';

/** A version that did not hold once may have met a busy moment; one that did not three times gives way. */
const maxStarts = 3;
const noReason = 'it was rolled back';

/**
 * States of an update behind its switch, each reached from the one before it:
 *
 *     trial ──ready──▶ ready ──hold──▶ held ──forget──▶ (no update)
 *       └────giveUp─────┴──▶ given up ──rollBack──▶ (no update)
 *
 * A version that was ready is given up only if the one before can go on with its tables; a held one never.
 */
export type UpdateState = 'trial' | 'ready' | 'held' | 'given up';

/**
 * One update of a program. The process that updates and the version that starts move it by turns, and either may be killed at any line. So
 * its state is what the plan beside the program and the progress in the data folder say when it is asked, and every step may be done again.
 */
export class Update {
  readonly program: string;
  readonly #nativeBinding: string | undefined;
  #plan: UpdatePlan;

  private constructor(program: string, plan: UpdatePlan, nativeBinding: string | undefined) {
    this.program = program;
    this.#plan = plan;
    this.#nativeBinding = nativeBinding;
  }

  /** The update that a program is in, whether it is switched yet or not. */
  static of(program: string, nativeBinding: string | undefined): Update | undefined {
    const plan = readPlan(program);
    return plan && new Update(program, plan, nativeBinding);
  }

  /** The update behind its switch that the data of a folder are in. */
  static #under(dataDir: string, nativeBinding: string | undefined): Update | undefined {
    const progress = readProgress(dataDir);
    const update = progress && Update.of(progress.program, nativeBinding);
    return update !== undefined && update.plan.id === progress?.id && isSwitched(update.program)
      ? update
      : undefined;
  }

  /** The update that a start of `version` has to prove itself in, asked before the data are opened. */
  static start(
    dataDir: string,
    version: string,
    nativeBinding: string | undefined,
  ): Update | undefined {
    assertNotRolledBack(dataDir, version);
    const update = Update.#under(dataDir, nativeBinding);
    return update !== undefined && update.#takeUp(version) ? update : undefined;
  }

  /** Writes down what is to be done, and puts the version that waits in the place of the one before. */
  static switch(program: string, plan: UpdatePlan, nativeBinding: string | undefined): Update {
    writePlan(program, plan);
    writeProgress(plan.dataDir, { id: plan.id, program });
    const { next, previous, previousNote } = besides(program);
    const held = `${previous}.held`;
    const note: Previous = { version: plan.from, replacedBy: plan.to, at: plan.beganAt };
    // A complete program is in place at every moment.
    rmSync(held, { force: true });
    linkSync(program, held);
    renameSync(held, previous);
    writeDurably(previousNote, JSON.stringify(note), 0o644);
    renameSync(next, program);
    syncPath(dirname(program));
    return new Update(program, plan, nativeBinding);
  }

  get plan(): UpdatePlan {
    return this.#plan;
  }

  /** Undefined once the data folder is in no update any more, or in another one. */
  get progress(): UpdateProgress | undefined {
    const progress = readProgress(this.#plan.dataDir);
    return progress?.id === this.#plan.id ? progress : undefined;
  }

  get state(): UpdateState {
    const { progress } = this;
    if (progress?.heldAt !== undefined) {
      return 'held';
    }
    if (this.#plan.state === 'back') {
      return 'given up';
    }
    return progress?.readyAt === undefined ? 'trial' : 'ready';
  }

  /** True if the new version was ready, and yet is started again and again. */
  get isUnsteady(): boolean {
    return this.state === 'ready' && this.#plan.starts > maxStarts;
  }

  /** True if the version before cannot go on with the tables as they are. */
  get hasChangedTables(): boolean {
    return changedTables(this.#plan, this.#nativeBinding);
  }

  /**
   * Takes up the update at a start; false when there is nothing left to prove. A version that has been started too often, or that was given
   * up meanwhile, is replaced by the one before, and the start ends with a sentence. Where this process may not write to its program, as
   * in a service, the unit has done that as root before.
   */
  #takeUp(version: string): boolean {
    const { state } = this;
    const { to, reason = noReason } = this.#plan;
    if (state === 'held') {
      this.forget();
      return false;
    }
    const writable = mayReplace(this.program);
    if (state === 'given up') {
      if (writable) {
        this.rollBack(reason);
      }
      throw rolledBack(this.#plan, reason);
    }
    // Its program was read before the switch. Let go on, it would bring the data that the other one expects to its own state.
    if (version !== to) {
      throw errors.replaced_midway({ version, to });
    }
    if (writable) {
      this.#count(state);
      this.#restoreData();
    }
    return true;
  }

  /** Notes that the new version serves: from here on its data are not given up. */
  ready(): void {
    this.#reach('readyAt');
  }

  /** Notes that it has served for long enough. */
  hold(): void {
    this.#reach('heldAt');
    this.forget();
  }

  /** Removes what remembers an update that has held; the version before stays beside. */
  forget(): void {
    const { id, dataDir } = this.#plan;
    if (readPlan(this.program)?.id === id && mayReplace(this.program)) {
      removePlan(this.program);
    }
    // Else the one who may removes both, at the next start.
    if (this.progress !== undefined && !existsSync(besides(this.program).plan)) {
      rmSync(progressFile(dataDir), { force: true });
    }
  }

  /** Says in both files that the new version is given up, so that no start goes on with it: one that counts itself writes the plan. */
  giveUp(reason: string): void {
    const { id, dataDir } = this.#plan;
    this.#write({ ...readPlan(this.program), state: 'back', reason });
    writeProgress(dataDir, {
      ...(readProgress(dataDir) ?? { id, program: this.program }),
      takenBack: this.#takenBack(reason),
    });
  }

  /**
   * Brings the version before back, and, where the new one has changed tables and was never ready, the data of before that. Nothing may
   * serve meanwhile. Cut short at any line it is done again from the beginning, and comes to the same.
   */
  rollBack(reason: string): void {
    const { id, dataDir } = this.#plan;
    const { previous, previousNote } = besides(this.program);
    const wasReady = readProgress(dataDir)?.readyAt !== undefined;
    this.#write({ state: 'back', reason });
    if (existsSync(previous)) {
      if (!wasReady && this.hasChangedTables) {
        restoreBackup(previous, dataDir, backupBefore(this.#plan));
      }
      renameSync(previous, this.program);
      syncPath(dirname(this.program));
    }
    rmSync(previousNote, { force: true });
    writeProgress(dataDir, { id, program: this.program, takenBack: this.#takenBack(reason) });
    removePlan(this.program);
  }

  /** Counts a start; the one too many gives way, unless it was ready and the version before could not go on with its tables. */
  #count(state: UpdateState): void {
    this.#write({ starts: this.#plan.starts + 1 });
    if (this.#plan.starts > maxStarts && !(state === 'ready' && this.hasChangedTables)) {
      const reason = `it was started ${maxStarts} times and did not stay up`;
      this.rollBack(reason);
      throw rolledBack(this.#plan, reason);
    }
  }

  /** Puts the data in place that go with the version that comes, once. */
  #restoreData(): void {
    const { restore, ...rest } = this.#plan;
    if (restore !== undefined) {
      restoreBackup(this.program, rest.dataDir, restore);
      writePlan(this.program, rest);
      this.#plan = rest;
    }
  }

  #reach(what: 'readyAt' | 'heldAt'): void {
    const { progress } = this;
    if (progress !== undefined && progress[what] === undefined) {
      writeProgress(this.#plan.dataDir, { ...progress, [what]: Date.now() });
    }
  }

  #write(change: Partial<UpdatePlan>): void {
    this.#plan = { ...this.#plan, ...change };
    writePlan(this.program, this.#plan);
  }

  #takenBack(reason: string) {
    const { from, to } = this.#plan;
    return { from, to, reason, at: Date.now() };
  }
}

/** Forgets what was made ready and is not put in place. The plan first: without the file that waits it would speak of a switch. */
export function discardNext(program: string): void {
  if (!isSwitched(program)) {
    removePlan(program);
    rmSync(besides(program).next, { force: true });
  }
}

/**
 * Refuses a start of a version that was given up. Whoever keeps svc running may start the version on trial once more in the moment in which it is given up, when neither its lock nor its
 * plan tells of it yet. Such a process is of that version though its program has not been put in place since; or it is older than the progress.
 * Asked at the start, and again where it has the lock of the data.
 */
export function assertNotRolledBack(dataDir: string, version: string): void {
  const progress = readProgress(dataDir);
  if (progress?.takenBack === undefined) {
    return;
  }
  const { from, to, at, reason } = progress.takenBack;
  const isLeftOver =
    version === to &&
    from !== to &&
    (statSync(progress.program, { throwIfNoEntry: false })?.ctimeMs ?? 0) <= at;
  if (isLeftOver || performance.timeOrigin < at) {
    throw rolledBack(progress.takenBack, reason);
  }
}

const rolledBack = ({ from, to }: Pick<UpdatePlan, 'from' | 'to'>, reason: string) =>
  errors.rolled_back({ to, reason, from });

function mayReplace(program: string): boolean {
  try {
    accessSync(dirname(program), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
