import { type Clock, type Counter, isSvcError, type Logger, messageOf } from 'svc/sdk';

import { type AnyDb, JobRows } from './job-rows.ts';
import { Cancelled, GiveUp, LeaseLost, Leaving, TryLater } from './outcome.ts';
import type { Ending } from './queue.ts';
import { causeOf, type Running } from './running.ts';
import type { JobRow } from './table.ts';

export interface EndingsParts {
  readonly write: <R>(work: (tx: AnyDb) => Promise<R>) => Promise<R>;
  readonly table: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly ended: Counter;
}

type Tried = Pick<Running, 'row' | 'queue'>;

/**
 * Records how attempts ended. Each write belongs to one lease: if another lease has the job by now,
 * it throws LeaseLost and changes nothing.
 */
export class Endings {
  readonly #parts: EndingsParts;

  constructor(parts: EndingsParts) {
    this.#parts = parts;
  }

  /** Ends a try whose job was cancelled meanwhile: done if the work was, cancelled otherwise. */
  async worked(running: Running, ending: Ending<unknown>): Promise<void> {
    const { row, queue, stopped } = running;
    const { write, table, ended } = this.#parts;
    const { state = 'done', afterMs } = ending;
    if (state !== 'done' && stopped instanceof Cancelled) {
      await this.#fail(running, 'cancelled', stopped.message, ending.write);
      return ending.written?.();
    }
    await write(async (tx) => {
      await ending.write?.(tx);
      const isMine = await new JobRows(tx, table).settle(row, { state, afterMs }, this.#now(), {
        keepsKey: queue.keepsKeys,
        keepsRow: queue.keepMs > 0,
      });
      if (!isMine) {
        throw new LeaseLost(row.id);
      }
    });
    ending.written?.();
    if (state === 'done') {
      ended.add(1, { queue: queue.name, state });
    }
  }

  /** A try that threw: the job waits again, or ends; what is logged has been stored. */
  async threw(running: Running, error: unknown): Promise<void> {
    const { row, queue } = running;
    const { log } = this.#parts;
    const { stopped } = running;
    if (stopped instanceof LeaseLost || error instanceof LeaseLost) {
      throw new LeaseLost(row.id);
    }
    if (stopped instanceof Cancelled) {
      return await this.#fail(running, 'cancelled', causeOf(error));
    }
    const now = this.#now();
    const later = error instanceof TryLater ? error : undefined;
    if (stopped instanceof Leaving && (queue.delivery === 'at-least-once' || later)) {
      return await this.putBack(row, {
        due_at: now,
        wait_ms: 0,
        error: row.error,
        uncounted: true,
      });
    }
    const cause = causeOf(error);
    const isLast =
      error instanceof GiveUp ||
      (queue.delivery === 'once' && later === undefined) ||
      (row.attempts >= queue.tries && later?.counts !== false) ||
      (row.deadline_at !== null && now >= row.deadline_at);
    if (isLast) {
      await this.#fail(running, 'failed', cause);
      log.warn(
        { event: 'jobs.gave_up', queue: queue.name, job: row.id, attempts: row.attempts, cause },
        'job failed; giving up',
      );
      return;
    }
    const wait = later?.afterMs ?? queue.waitMs(row.attempts, this.#parts.random());
    await this.putBack(row, {
      due_at: Math.ceil(now + wait),
      wait_ms: Math.ceil(wait),
      error: cause,
      uncounted: later?.counts === false,
    });
    if (later === undefined) {
      log[isSvcError(error) ? 'warn' : 'error'](
        { event: 'jobs.try_failed', queue: queue.name, job: row.id, attempt: row.attempts, cause },
        `job failed; retrying in ${Math.ceil(wait / 1_000)} s`,
      );
    }
  }

  async putBack(row: JobRow, back: Parameters<JobRows['putBack']>[1]): Promise<void> {
    const { write, table } = this.#parts;
    if (!(await write((tx) => new JobRows(tx, table).putBack(row, back)))) {
      throw new LeaseLost(row.id);
    }
  }

  async #fail(
    { row, queue }: Tried,
    state: 'failed' | 'cancelled',
    cause: string,
    first?: Ending<unknown>['write'],
  ): Promise<void> {
    const { table, ended } = this.#parts;
    await this.#endNoted(queue, { state, cause }, async (tx) => {
      await first?.(tx);
      const rows = new JobRows(tx, table);
      if (!(await rows.fail(row, state, cause, this.#now(), queue.keepsKeys))) {
        throw new LeaseLost(row.id);
      }
      return row;
    });
    ended.add(1, { queue: queue.name, state });
  }

  /**
   * Writes an end together with what its owner notes of it. An owner that cannot take note of a failure does not stop the
   * queue; a storage that refuses writes refuses this as well.
   */
  async #endNoted(
    queue: Tried['queue'],
    { state, cause }: { readonly state: 'failed' | 'cancelled'; readonly cause: string },
    end: (tx: AnyDb) => Promise<JobRow | undefined>,
  ): Promise<JobRow | undefined> {
    const { write, log } = this.#parts;
    try {
      return await write(async (tx) => {
        const row = await end(tx);
        if (row !== undefined) {
          await queue.failed(tx, row, state, cause);
        }
        return row;
      });
    } catch (error) {
      if (error instanceof LeaseLost) {
        throw error;
      }
      const row = await write(end);
      log.error(
        {
          event: 'jobs.failure_not_noted',
          queue: queue.name,
          job: row?.id,
          cause: messageOf(error),
        },
        'job failed, and its failure could not be recorded',
      );
      return row;
    }
  }

  /** Records that its process or generation ended in the middle of it. */
  async abandoned({ row, queue }: Tried): Promise<void> {
    if (row.cancel === 1) {
      return await this.#fail({ row, queue }, 'cancelled', new Cancelled().message);
    }
    if (queue.delivery === 'once') {
      return await this.#fail(
        { row, queue },
        'failed',
        'svc stopped while it ran; it may have been done',
      );
    }
    if (row.attempts >= queue.tries) {
      return await this.#fail(
        { row, queue },
        'failed',
        `svc ended ${row.attempts} times while it ran`,
      );
    }
    await this.putBack(row, {
      due_at: this.#now(),
      wait_ms: 0,
      error: row.error,
      uncounted: false,
    });
  }

  /** Records that it waited beyond its deadline. */
  async expired({ row, queue }: Tried): Promise<void> {
    const { table, ended } = this.#parts;
    const state = 'failed';
    const cause = row.error ?? 'it did not start before its deadline';
    const gone = await this.#endNoted(queue, { state, cause }, (tx) =>
      new JobRows(tx, table).endIdle(row.id, state, cause, this.#now(), queue.keepsKeys),
    );
    if (gone !== undefined) {
      ended.add(1, { queue: queue.name, state });
    }
  }

  #now(): number {
    return Math.floor(this.#parts.clock.now());
  }
}
