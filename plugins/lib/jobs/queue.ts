import type { Kysely } from 'kysely';

import { type AnyDb } from './job-rows.ts';
import type { JobRow } from './table.ts';

/** One lease of one job, as its work sees it. */
export interface Job<Payload = unknown, Tables = unknown> {
  readonly id: string;
  readonly payload: Payload;
  /** 1 on the first try. */
  readonly attempt: number;
  /** Grows with each lease, also by those whose tries do not count: above 1, something may have been done before. */
  readonly epoch: number;
  readonly createdAt: number;
  /** Aborted when the job is cancelled, its try is late, its lease is lost or the plugin leaves. */
  readonly signal: AbortSignal;
  /** Runs `work` in a transaction in which the lease is known to hold; throws LeaseLost otherwise. */
  write<R>(work: (tx: Kysely<Tables>) => Promise<R>): Promise<R>;
  /** Reports progress of long work to people. Stored at most once a second. */
  progress(progress: JobProgress): void;
}

export interface JobProgress {
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  readonly note?: string | undefined;
}

/** Successful end of an attempt. */
export interface Ending<Tables> {
  /**
   * parked: waits until it is woken, and holds up nobody meanwhile. waiting: there is more to do, and
   * no attempt is counted. Default: done.
   */
  readonly state?: 'done' | 'parked' | 'waiting' | undefined;
  /** Wait until one that is `waiting` goes on. Default: none. */
  readonly afterMs?: number | undefined;
  /** Runs in the transaction that ends the attempt, so both happen or neither. */
  readonly write?: ((tx: Kysely<Tables>) => Promise<unknown>) | undefined;
  /** Called once that is committed. */
  readonly written?: (() => void) | undefined;
}

export type Work<Payload, Tables> = (
  job: Job<Payload, Tables>,
) => Promise<Ending<Tables> | undefined | void>;

/** Options of a queue; every number may also be a function, called each time. */
export interface QueueOptions<Payload = unknown, Tables = unknown> {
  readonly work: Work<Payload, Tables>;
  /** Jobs that run side by side. Default 4. */
  readonly atOnce?: number | (() => number);
  /**
   * at-least-once: a try that a crash interrupted is repeated, so that its work must bear that. once: it is not; the job fails and says
   * that it may have been done. What `Ending.write` does is done exactly once either way.
   */
  readonly delivery?: 'at-least-once' | 'once';
  /** Tries before the job fails. Default 5. */
  readonly tries?: number;
  /** Deadline of one try. Default 30 s. */
  readonly timeoutMs?: number;
  /** The first wait between tries, which doubles, with jitter. Default 1 s. */
  readonly backoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Time after it was enqueued within which a job may begin; default: unlimited. */
  readonly deadlineMs?: number;
  /** Jobs that may wait; one more is refused. Default: any number. */
  readonly maxWaiting?: number | (() => number);
  readonly order?: 'oldest' | 'newest';
  /** Time for which done jobs are kept for display. Default: not at all. */
  readonly keepMs?: number;
  /** Time for which failed or cancelled jobs are kept. Default 30 days. */
  readonly keepFailedMs?: number;
  /** until-removed: a key is not free again before its job is removed, so that what is repeated finds it taken. Default until-ended. */
  readonly keys?: 'until-ended' | 'until-removed';
  /** False: people may not cancel its jobs. */
  readonly cancellable?: boolean;
  /** False: its jobs carry on work that the plugin lists by itself, and are listed nowhere. */
  readonly listed?: boolean;
  /** Returns the title of a job. Default: the name of the queue. */
  readonly title?: (payload: Payload) => string;
  /** Called in the transaction that ends a job unsuccessfully. */
  readonly onFailed?: (tx: Kysely<Tables>, job: FailedJob<Payload>) => Promise<void>;
}

export interface FailedJob<Payload> {
  readonly id: string;
  readonly payload: Payload;
  readonly attempts: number;
  readonly state: 'failed' | 'cancelled';
  readonly cause: string;
}

const dayMs = 86_400_000;

// oxlint-disable-next-line typescript/no-explicit-any -- queues of one table differ in what their jobs carry
export type AnyQueueOptions = QueueOptions<any, any>;

/** Queue of jobs of one name, with how they are done. */
export class Queue {
  readonly name: string;
  readonly work: Work<unknown, unknown>;
  readonly delivery: 'at-least-once' | 'once';
  readonly tries: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number | undefined;
  readonly order: 'oldest' | 'newest';
  readonly keepMs: number;
  readonly keepFailedMs: number;
  readonly keepsKeys: boolean;
  readonly cancellable: boolean;
  readonly listed: boolean;
  readonly #options: AnyQueueOptions;

  constructor(name: string, options: AnyQueueOptions) {
    this.name = name;
    this.#options = options;
    this.work = options.work;
    this.delivery = options.delivery ?? 'at-least-once';
    this.tries = options.tries ?? 5;
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.deadlineMs = options.deadlineMs;
    this.order = options.order ?? 'oldest';
    this.keepMs = options.keepMs ?? 0;
    this.keepFailedMs = options.keepFailedMs ?? 30 * dayMs;
    this.keepsKeys = options.keys === 'until-removed';
    this.cancellable = options.cancellable ?? true;
    this.listed = options.listed ?? true;
  }

  get atOnce(): number {
    return valueOf(this.#options.atOnce ?? 4);
  }

  get maxWaiting(): number {
    return valueOf(this.#options.maxWaiting ?? Infinity);
  }

  titleOf(payload: unknown): string {
    return this.#options.title?.(payload) ?? this.name;
  }

  /** Wait after a try that failed; between half and whole, so that what failed together does not come back together. */
  waitMs(attempts: number, random: number): number {
    const { backoffMs = 1_000, maxBackoffMs = 300_000 } = this.#options;
    const full = Math.min(maxBackoffMs, backoffMs * 2 ** Math.min(attempts - 1, 30));
    return Math.ceil(full * (0.5 + random / 2));
  }

  /** Tells the owner of the queue, in the transaction that ends the job. */
  async failed(
    tx: AnyDb,
    row: JobRow,
    state: 'failed' | 'cancelled',
    cause: string,
  ): Promise<void> {
    await this.#options.onFailed?.(tx, {
      id: row.id,
      payload: JSON.parse(row.payload) as unknown,
      attempts: row.attempts,
      state,
      cause,
    });
  }
}

const valueOf = (number: number | (() => number)): number =>
  typeof number === 'function' ? number() : number;
