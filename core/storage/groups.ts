import { AsyncResource } from 'node:async_hooks';

import { type Clock, SvcError } from '../sdk/index.ts';
import { Unit } from './unit.ts';
import type { Writer } from './writer.ts';

export interface GroupLimits {
  /** Deadline of one unit; default 5 000. */
  readonly unitMs?: number;
  /** How long a unit may wait for its turn; default 10 000. */
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
  /** Its statements may take as long as they need. */
  readonly patient?: boolean;
}

export interface Groups {
  run<R>(work: (unit: Unit) => Promise<R>, entry?: Entry): Promise<R>;
  /** Runs `chore` while no group is open. */
  between(chore: () => Promise<void>): Promise<void>;
  /** No new unit is taken; resolves when the last one is committed. */
  drain(): Promise<void>;
}

interface Waiting extends Entry {
  /** In the context of whoever asked for it. */
  readonly perform: (unit: Unit) => Promise<unknown>;
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Whoever came first waits no longer than this for those who came after. */
const longestGroupMs = 50;

/**
 * Writers share commits: units run one after another in one transaction, which is committed when
 * nobody waits or the group is old enough. Nobody hears of success before that commit's fsync;
 * who arrives meanwhile forms the next group.
 */
export function openGroups(writer: Writer, clock: Clock, limits: GroupLimits = {}): Groups {
  const { unitMs = 5_000, waitMs = 10_000, groupMs = 5, groupUnits = 256, waiting: mayWait = 4_096 } = limits;
  const queue: Waiting[] = [];
  const chores: (() => Promise<void>)[] = [];
  // The loop outlives every request; it must not keep the context of the one that woke it.
  const own = new AsyncResource('svc.storage.groups');
  let serving: Promise<void> | undefined;
  let draining = false;
  let commitMs = 0;

  async function serve(): Promise<void> {
    for (let chore = chores.shift(); chore !== undefined || queue.length > 0; chore = chores.shift()) {
      await (chore ?? serveGroup)();
    }
    serving = undefined;
  }

  function wake(): void {
    serving ??= own.runInAsyncScope(serve);
  }

  async function serveGroup(): Promise<void> {
    const kept: (() => void)[] = [];
    const members: Waiting[] = [];
    const born = clock.monotonic();
    writer.step('begin');
    do {
      const next = queue.shift()!;
      if (clock.monotonic() - next.since > waitMs) {
        next.reject(new SvcError('unavailable', `this write waited ${waitMs / 1000} s for its turn and was given up: too many writes at once`));
        continue;
      }
      try {
        const result = await served(next);
        members.push(next);
        kept.push(() => next.resolve(result));
      } catch (error) {
        next.reject(writer.lost() ?? error);
      }
    } while (
      writer.lost() === undefined &&
      queue.length > 0 &&
      members.length < groupUnits &&
      clock.monotonic() - born < Math.max(groupMs, Math.min(commitMs, longestGroupMs))
    );

    try {
      if (members.length > 0) {
        const asked = clock.monotonic();
        await writer.commit();
        commitMs = clock.monotonic() - asked;
      } else {
        writer.step('rollback');
      }
    } catch (error) {
      for (const member of members) {
        member.reject(error);
      }
      return;
    }
    for (const acknowledge of kept) {
      acknowledge();
    }
  }

  /** One unit with its deadline; work that goes on after it finds its transaction closed. */
  async function served({ perform, unitMs: ownMs, patient }: Waiting): Promise<unknown> {
    const unit = new Unit(writer, { patient: patient ?? false });
    const deadlineMs = ownMs ?? unitMs;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const reason = `this write took longer than ${deadlineMs / 1000} s and was rolled back: no network, file or timer belongs inside a write`;
        unit.abandon(reason);
        reject(new SvcError('unavailable', reason));
      }, deadlineMs);
    });
    try {
      return await Promise.race([perform(unit), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    run<R>(work: (unit: Unit) => Promise<R>, entry: Entry = {}): Promise<R> {
      if (draining) {
        return Promise.reject(new SvcError('unavailable', 'storage is closing; nothing more is written'));
      }
      const refusal = writer.down();
      if (refusal !== undefined) {
        return Promise.reject(new SvcError('unavailable', refusal));
      }
      if (queue.length >= mayWait) {
        return Promise.reject(new SvcError('unavailable', `${mayWait} writes are waiting already; try again in a moment`, { retryAfterSeconds: 1 }));
      }
      return new Promise<R>((resolve, reject) => {
        const perform = AsyncResource.bind((unit: Unit) => unit.run(work));
        queue.push({ ...entry, perform, since: clock.monotonic(), resolve: resolve as (value: unknown) => void, reject });
        wake();
      });
    },
    between(chore) {
      return new Promise((resolve, reject) => {
        chores.push(() => chore().then(resolve, reject));
        wake();
      });
    },
    async drain() {
      draining = true;
      await serving;
    },
  };
}
