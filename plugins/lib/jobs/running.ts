import { redactText } from 'svc/probe';
import { type Clock, messageOf, type Scope } from 'svc/sdk';

import { type AnyDb, JobRows } from './job-rows.ts';
import { Cancelled, LeaseLost, Leaving, TryLate } from './outcome.ts';
import type { Ending, Job, JobProgress, Queue } from './queue.ts';
import type { JobRow } from './table.ts';

export interface RunningParts {
  readonly write: <R>(work: (tx: AnyDb) => Promise<R>) => Promise<R>;
  readonly table: string;
  readonly clock: Clock;
  readonly scope: Pick<Scope, 'timeout'>;
}

const progressEveryMs = 1_000;

/** Attempt under one lease. Every write is fenced by the epoch of the lease. */
export class Running {
  readonly row: JobRow;
  readonly queue: Queue;
  readonly #parts: RunningParts;
  readonly #stop = new AbortController();
  #progressAt = -Infinity;

  constructor(row: JobRow, queue: Queue, parts: RunningParts) {
    this.row = row;
    this.queue = queue;
    this.#parts = parts;
  }

  /** Why the try was stopped: Cancelled, Leaving, LeaseLost or TryLate; undefined while it was not. */
  get stopped(): unknown {
    return this.#stop.signal.aborted ? this.#stop.signal.reason : undefined;
  }

  cancel(): void {
    this.#stop.abort(new Cancelled());
  }

  lose(): void {
    this.#stop.abort(new LeaseLost(this.row.id));
  }

  leave(): void {
    this.#stop.abort(new Leaving());
  }

  /** Runs the work of the queue until it ends, or its time is over. */
  async work(): Promise<Ending<unknown>> {
    const { scope } = this.#parts;
    const { timeoutMs, name } = this.queue;
    let late = (_error: Error): void => undefined;
    const overdue = new Promise<never>((_resolve, reject) => (late = reject));
    const unset = scope.timeout(`deadline of ${name}`, timeoutMs, () => {
      const error = new TryLate(name, timeoutMs);
      this.#stop.abort(error);
      late(error);
    });
    try {
      return (await Promise.race([this.queue.work(this.#job()), overdue])) ?? {};
    } finally {
      void unset();
    }
  }

  #job(): Job {
    const { row } = this;
    return {
      id: row.id,
      payload: JSON.parse(row.payload) as unknown,
      attempt: row.attempts,
      epoch: row.epoch,
      createdAt: row.created_at,
      signal: this.#stop.signal,
      write: (work) => this.#fenced(work as (tx: AnyDb) => Promise<never>),
      progress: (progress) => this.#tell(progress),
    };
  }

  #fenced<R>(work: (tx: AnyDb) => Promise<R>): Promise<R> {
    const { write, table } = this.#parts;
    return write(async (tx) => {
      if (!(await new JobRows(tx, table).holds(this.row))) {
        throw new LeaseLost(this.row.id);
      }
      return await work(tx);
    });
  }

  #tell({ done, total, note = '' }: JobProgress): void {
    const { clock, write, table } = this.#parts;
    if (clock.monotonic() - this.#progressAt < progressEveryMs) {
      return;
    }
    this.#progressAt = clock.monotonic();
    const text = JSON.stringify({ done, total, note });
    // A progress that is not told harms nobody: the next one says more.
    void write((tx) => new JobRows(tx, table).progress(this.row, text)).catch(() => undefined);
  }
}

/** Errors are kept no longer than this, and without secrets. */
const maxError = 1_000;

export const causeOf = (error: unknown): string => redactText(messageOf(error)).slice(0, maxError);
