import { messageOf, type Scope } from 'svc/sdk';

import { Endings, type EndingsParts } from './endings.ts';
import { type AnyDb, JobRows } from './job-rows.ts';
import { LeaseLost } from './outcome.ts';
import type { Queue } from './queue.ts';
import { Running } from './running.ts';
import type { JobRow } from './table.ts';

export interface WorkerParts extends EndingsParts {
  readonly read: AnyDb;
  readonly queues: ReadonlyMap<string, Queue>;
  readonly scope: Pick<Scope, 'timeout' | 'signal'>;
  /** Id of the process; leases of any other belong to one that has ended. */
  readonly process: string;
  /** Generation of this process, as `process.generation`. */
  readonly owner: string;
  /** Tells the next generation, if there is one, that this one has put something down. */
  readonly left: () => void;
}

interface Unwritten {
  readonly running: Running;
  readonly end: () => Promise<void>;
}

const leaseMs = 30_000;
const heartbeatMs = 10_000;
/** Max time until jobs are noticed that no write of this generation announced. */
const longestRestMs = 5_000;
/** Interval of checking jobs that wait for their time, since the wall clock may jump. */
const lookMs = 1_000;
const retryMs = 1_000;
/** A job is enqueued in a transaction that is about to commit; it is looked for at these distances. */
const soonMs = [2, 15, 60, 250, 1_000];
const recoverEveryMs = 5_000;
const tidyMs = 3_600_000;

/** Leases due jobs of all queues of one table, runs them, and writes down how they ended. */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #rows: JobRows;
  readonly #endings: Endings;
  /** Running attempts by job number. */
  readonly #running = new Map<number, Running>();
  readonly #ends = new Set<Promise<void>>();
  /** Ends that could not be written yet; their leases are held until they are. */
  #unwritten: Unwritten[] = [];
  #isDue = true;
  #alarm: { readonly at: number; readonly unset: () => unknown } | undefined;
  #soon: readonly number[] = [];
  #isTroubled = false;
  #tidyAt = -Infinity;
  #recoverAt = -Infinity;
  #rouse = (): void => undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#rows = new JobRows(parts.read, parts.table);
    this.#endings = new Endings(parts);
  }

  /** There may be something due. */
  wake(): void {
    this.#isDue = true;
    this.#rouse();
  }

  /** Something was written that may be due once its transaction has committed. */
  expect(): void {
    this.#soon = soonMs;
    this.#lookIn(soonMs[0]!);
  }

  /** A job of this worker is to be cancelled. */
  cancel(seq: number): void {
    this.#running.get(seq)?.cancel();
  }

  /**
   * Runs until this generation stops; attempts in progress are then put back, for the next one to
   * continue.
   */
  async run(signal: AbortSignal): Promise<void> {
    const leave = (): void => {
      this.#running.forEach((running) => running.leave());
      this.#rouse();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#beat(signal);
    while (!signal.aborted) {
      if (this.#isDue) {
        this.#isDue = false;
        await this.#turn(signal);
      } else {
        await new Promise<void>((resolve) => (this.#rouse = resolve));
      }
    }
    while (this.#ends.size > 0) {
      await Promise.all(this.#ends);
    }
    await this.#writeEnds();
    this.#parts.left();
  }

  /** One look: ends that wait to be written, leases that others left, and whatever is due. */
  async #turn(signal: AbortSignal): Promise<void> {
    try {
      await this.#writeEnds();
      await this.#recover();
      await this.#begin(signal);
      await this.#tidy();
      this.#untroubled();
    } catch (error) {
      this.#trouble(error);
      this.#lookIn(retryMs);
    }
    const [soon, ...later] = this.#soon;
    this.#soon = later;
    this.#lookIn(soon ?? longestRestMs);
  }

  /** Leases what is due of every queue, as far as it has room, in one commit. */
  async #begin(signal: AbortSignal): Promise<void> {
    const { clock, write, table, owner, queues } = this.#parts;
    const now = Math.floor(clock.now());
    const due: number[] = [];
    for (const queue of queues.values()) {
      const busy = [...this.#running.values()].filter((one) => one.queue === queue).length;
      const room = queue.atOnce - busy;
      if (room > 0) {
        due.push(...(await this.#rows.due(queue.name, now, room, queue.order)));
      }
      const at = await this.#rows.nextAt(queue.name, now);
      if (at !== undefined) {
        this.#lookIn(Math.min(at - now, lookMs));
      }
    }
    if (due.length === 0 || signal.aborted) {
      return;
    }
    const leased = await write((tx) =>
      new JobRows(tx, table).lease(due, owner, now, now + leaseMs),
    );
    for (const row of leased) {
      if (signal.aborted) {
        await this.#endings.putBack(row, {
          due_at: now,
          wait_ms: 0,
          error: row.error,
          uncounted: true,
        });
      } else {
        this.#start(row, queues.get(row.queue)!);
      }
    }
  }

  #start(row: JobRow, queue: Queue): void {
    const running = new Running(row, queue, this.#parts);
    this.#running.set(row.seq, running);
    const done = this.#carry(running).finally(() => {
      this.#ends.delete(done);
      this.wake();
    });
    this.#ends.add(done);
  }

  /** Never rejects. */
  async #carry(running: Running): Promise<void> {
    let end: () => Promise<void>;
    try {
      const ending = await running.work();
      end = () => this.#endings.worked(running, ending);
    } catch (error) {
      end = () => this.#endings.threw(running, error);
    }
    try {
      await this.#write({ running, end });
    } catch (error) {
      this.#trouble(error);
      this.#unwritten.push({ running, end });
      this.#lookIn(retryMs);
    }
  }

  /** Writes an end; one whose lease has gone to another is no longer ours to write. */
  async #write({ running, end }: Unwritten): Promise<void> {
    await end().catch((error: unknown) => {
      if (!(error instanceof LeaseLost)) {
        throw error;
      }
    });
    this.#running.delete(running.row.seq);
  }

  async #writeEnds(): Promise<void> {
    const ends = this.#unwritten;
    this.#unwritten = [];
    for (const [at, one] of ends.entries()) {
      try {
        await this.#write(one).catch((error: unknown) => this.#writeRefused(one, error));
      } catch (error) {
        this.#unwritten.push(...ends.slice(at));
        throw error;
      }
    }
  }

  /**
   * Ends a try whose end was refused twice as one that threw: a storage that takes that refuses the end itself, such as a row
   * for something that was deleted meanwhile, and no other job may wait for it.
   */
  async #writeRefused({ running }: Unwritten, error: unknown): Promise<void> {
    await this.#write({ running, end: () => this.#endings.threw(running, error) });
  }

  /** Jobs whose process or generation ended in the middle of them, and those that waited beyond their deadline. */
  async #recover(): Promise<void> {
    const { clock, process, queues } = this.#parts;
    if (clock.monotonic() < this.#recoverAt) {
      return;
    }
    const now = Math.floor(clock.now());
    for (const { seq, queue: name } of await this.#rows.abandoned(process, now, leaseMs)) {
      const queue = queues.get(name);
      const row =
        queue === undefined || this.#running.has(seq) ? undefined : await this.#rows.bySeq(seq);
      if (queue !== undefined && row?.state === 'running') {
        await this.#endings.abandoned({ row, queue }).catch((error: unknown) => {
          if (!(error instanceof LeaseLost)) {
            throw error;
          }
        });
      }
    }
    const hasDeadlines = [...queues.values()].some((queue) => queue.deadlineMs !== undefined);
    for (const row of hasDeadlines ? await this.#rows.overdue(now) : []) {
      const queue = queues.get(row.queue);
      if (queue !== undefined) {
        await this.#endings.expired({ row, queue });
      }
    }
    this.#recoverAt = clock.monotonic() + recoverEveryMs;
  }

  /** Holds the leases of what runs, and learns what was cancelled or lost meanwhile. */
  #beat(signal: AbortSignal): void {
    this.#parts.scope.timeout('hold leases', heartbeatMs, async () => {
      if (!signal.aborted) {
        this.#beat(signal);
        await this.#extend().catch((error: unknown) => this.#trouble(error));
      }
    });
  }

  async #extend(): Promise<void> {
    const { write, table, clock } = this.#parts;
    const held = [...this.#running.values()];
    if (held.length === 0) {
      return;
    }
    const until = Math.floor(clock.now()) + leaseMs;
    const kept = await write((tx) =>
      new JobRows(tx, table).extend(
        held.map(({ row }) => row),
        until,
      ),
    );
    const cancelOf = new Map(kept.map(({ seq, cancel }) => [seq, cancel]));
    for (const running of held) {
      const cancel = cancelOf.get(running.row.seq);
      if (cancel === 1) {
        running.cancel();
      } else if (cancel === undefined && this.#running.get(running.row.seq) === running) {
        running.lose();
      }
    }
  }

  async #tidy(): Promise<void> {
    const { clock, write, table, queues } = this.#parts;
    if (clock.monotonic() < this.#tidyAt) {
      return;
    }
    this.#tidyAt = clock.monotonic() + tidyMs;
    const now = Math.floor(clock.now());
    await write(async (tx) => {
      const rows = new JobRows(tx, table);
      for (const { name, keepMs, keepFailedMs } of queues.values()) {
        await rows.removeEnded(name, { done: now - keepMs, failed: now - keepFailedMs });
      }
    });
  }

  #lookIn(ms: number): void {
    const { clock, scope } = this.#parts;
    const wait = Math.min(longestRestMs, Math.max(1, Math.ceil(ms)));
    const at = clock.monotonic() + wait;
    if (scope.signal.aborted || (this.#alarm !== undefined && this.#alarm.at <= at)) {
      return;
    }
    void this.#alarm?.unset();
    const unset = scope.timeout('look for due jobs', wait, () => {
      this.#alarm = undefined;
      this.wake();
    });
    this.#alarm = { at, unset };
  }

  #trouble(error: unknown): void {
    if (!this.#isTroubled) {
      this.#isTroubled = true;
      this.#parts.log.error(
        { event: 'jobs.storage_failed', cause: messageOf(error) },
        'failed to read or write jobs; retrying',
      );
    }
  }

  #untroubled(): void {
    if (this.#isTroubled && this.#unwritten.length === 0) {
      this.#isTroubled = false;
      this.#parts.log.info({ event: 'jobs.recovered' }, 'jobs can be read and written again');
    }
  }
}
