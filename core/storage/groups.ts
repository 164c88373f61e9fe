import { AsyncResource } from 'node:async_hooks';

import { type Clock, type SvcError, withDeadline } from '../sdk/index.ts';
import type { Writer } from './engine/engine.ts';
import { errors as engineErrors } from './engine/errors.ts';
import { errors } from './errors.ts';
import { Unit } from './unit.ts';

export interface GroupLimits {
  /** Deadline of one unit; default 5 000. */
  readonly unitMs?: number;
  /** Time that a unit may wait for its turn; default 10 000. */
  readonly waitMs?: number;
  /** A group commits at the latest when it is this old (default 5), or as old as the last commit was long: a slow disk is asked less often … */
  readonly groupMs?: number;
  /** … or holds this many units (default 256). */
  readonly groupUnits?: number;
  /** Units that may wait; one more is refused. Default 4 096. */
  readonly waiting?: number;
}

export interface Entry {
  /** Deadline of this unit instead of the common one. */
  readonly unitMs?: number;
  /** True if its statements may take as long as they need. */
  readonly patient?: boolean;
}

interface Waiting extends Entry {
  /** Runs in the caller's context. */
  readonly perform: (unit: Unit) => Promise<unknown>;
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Max time that the first of a group waits for later ones. */
const longestGroupMs = 50;

/**
 * Writers that share commits: units run one after another in one transaction, which is committed
 * when nobody waits or the group is old enough. Success is reported only after that commit's fsync;
 * units that arrive meanwhile form the next group.
 */
export class Groups {
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #limits: Required<GroupLimits>;
  readonly #queue: Waiting[] = [];
  readonly #chores: (() => Promise<void>)[] = [];
  // The loop outlives every request; it must not keep the context of the one that woke it.
  readonly #own = new AsyncResource('svc.storage.groups');
  #serving: Promise<void> | undefined;
  #draining = false;
  #commitMs = 0;

  constructor(writer: Writer, clock: Clock, limits: GroupLimits = {}) {
    this.#writer = writer;
    this.#clock = clock;
    this.#limits = {
      unitMs: 5_000,
      waitMs: 10_000,
      groupMs: 5,
      groupUnits: 256,
      waiting: 4_096,
      ...limits,
    };
  }

  run<R>(work: (unit: Unit) => Promise<R>, entry: Entry = {}): Promise<R> {
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      return Promise.reject(refusal);
    }
    return new Promise<R>((resolve, reject) => {
      const perform = AsyncResource.bind((unit: Unit) => unit.run(work));
      this.#queue.push({
        ...entry,
        perform,
        since: this.#clock.monotonic(),
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#wake();
    });
  }

  /** Runs `chore` while no group is open. */
  between(chore: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#chores.push(() => chore().then(resolve, reject));
      this.#wake();
    });
  }

  /** No new unit is taken; resolves when the last one is committed. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#serving;
  }

  #refusal(): SvcError | undefined {
    if (this.#draining) {
      return errors.closing();
    }
    const { down } = this.#writer;
    if (down !== undefined) {
      return engineErrors.writer_down({ cause: down });
    }
    const { waiting } = this.#limits;
    return this.#queue.length >= waiting
      ? errors.queue_full({ waiting }, { retryAfterSeconds: 1 })
      : undefined;
  }

  #wake(): void {
    this.#serving ??= this.#own.runInAsyncScope(() => this.#serve());
  }

  async #serve(): Promise<void> {
    for (
      let chore = this.#chores.shift();
      chore !== undefined || this.#queue.length > 0;
      chore = this.#chores.shift()
    ) {
      await (chore === undefined ? this.#serveGroup() : chore());
    }
    this.#serving = undefined;
  }

  async #serveGroup(): Promise<void> {
    this.#writer.step('begin');
    const { members, acknowledge } = await this.#runMembers();
    try {
      if (members.length > 0) {
        const asked = this.#clock.monotonic();
        await this.#writer.commit();
        this.#commitMs = this.#clock.monotonic() - asked;
      } else {
        this.#writer.step('rollback');
      }
    } catch (error) {
      for (const member of members) {
        member.reject(error);
      }
      return;
    }
    for (const tell of acknowledge) {
      tell();
    }
  }

  /**
   * Runs the units; returns those that succeeded, with the functions that report it once it is
   * committed.
   */
  async #runMembers(): Promise<{
    readonly members: readonly Waiting[];
    readonly acknowledge: readonly (() => void)[];
  }> {
    const { waitMs, groupMs, groupUnits } = this.#limits;
    const acknowledge: (() => void)[] = [];
    const members: Waiting[] = [];
    const born = this.#clock.monotonic();
    do {
      const next = this.#queue.shift()!;
      if (this.#clock.monotonic() - next.since > waitMs) {
        next.reject(errors.wait_too_long({ seconds: waitMs / 1000 }));
        continue;
      }
      try {
        const result = await this.#runUnit(next);
        members.push(next);
        acknowledge.push(() => next.resolve(result));
      } catch (error) {
        next.reject(this.#writer.lost ?? error);
      }
    } while (
      this.#writer.lost === undefined &&
      this.#queue.length > 0 &&
      members.length < groupUnits &&
      this.#clock.monotonic() - born < Math.max(groupMs, Math.min(this.#commitMs, longestGroupMs))
    );
    return { members, acknowledge };
  }

  /** Runs one unit with its deadline; work that continues after it finds its transaction closed. */
  async #runUnit({ perform, unitMs, patient }: Waiting): Promise<unknown> {
    const unit = new Unit(this.#writer, { patient: patient ?? false });
    const deadlineMs = unitMs ?? this.#limits.unitMs;
    return await withDeadline(perform(unit), deadlineMs, () => {
      const late = (): SvcError => errors.unit_too_long({ seconds: deadlineMs / 1000 });
      unit.abandon(late);
      return Promise.reject(late());
    });
  }
}
