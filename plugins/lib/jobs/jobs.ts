import type { Kysely } from 'kysely';
import { defineEvent, type PluginContext, SvcError, type Tables } from 'svc/sdk';

import { type AnyDb, type JobFilter, type JobPosition, JobRows, type NewRow } from './job-rows.ts';
import { Queue, type QueueOptions } from './queue.ts';
import { type JobSource, JobSources, type JobView } from './source.ts';
import type { JobRow } from './table.ts';
import { Worker } from './worker.ts';

/** Job to enqueue. */
export interface NewJob<Payload> {
  readonly payload: Payload;
  /** Id of the job, if given. */
  readonly id?: string;
  /** One job a key: a second one is not added while there is the first. */
  readonly key?: string;
  /** Repeats the job that has the key, if any, no later than this one would run. */
  readonly again?: boolean;
  /** Jobs of a lane run one after another, in the order in which they were added. */
  readonly lane?: string;
  readonly title?: string;
  readonly delayMs?: number;
}

export type JobsContext = Pick<
  PluginContext,
  'id' | 'generation' | 'clock' | 'ids' | 'log' | 'scope' | 'metrics' | 'events' | 'extend'
>;

export interface JobsParts<T> {
  readonly tables: Tables<T>;
  /** Tells this process from those before it, such as the moment of its start. */
  readonly process: string;
  /** Default: `<plugin>_jobs`. */
  readonly table?: string;
}

const maxPayloadBytes = 1024 * 1024;
const maxName = 300;

/**
 * The durable work of one plugin, in a table of its own. A job that was added is done over any number of kills: until the commit that
 * ends it, its row is there. Every lease has an epoch, and no write of an earlier lease counts.
 *
 * ```ts
 * const jobs = new Jobs(ctx, { tables, process: String(build.startedAt) });
 * jobs.queue<Letter>('letter', { tries: 10, work: ({ payload, id }) => send(payload, id) });
 * await tables.write(async (tx) => {
 *   await change(tx);
 *   await jobs.add(tx, 'letter', [{ payload: letter }]);
 * });
 * ```
 */
export class Jobs<T> implements JobSource {
  readonly #ctx: JobsContext;
  readonly #tables: Tables<T>;
  readonly #table: string;
  readonly #queues = new Map<string, Queue>();
  readonly #worker: Worker;
  readonly #rows: JobRows;

  /** Creates the jobs in `activate`; they run from commit on. */
  constructor(ctx: JobsContext, { tables, process, table }: JobsParts<T>) {
    const { id, clock, ids, log, scope, metrics, events } = ctx;
    this.#ctx = ctx;
    this.#tables = tables;
    this.#table = table ?? `${id.replaceAll('-', '_')}_jobs`;
    this.#rows = new JobRows(tables.read, this.#table);
    const left = defineEvent<Record<never, never>>(`${id}.jobs-left`);
    this.#worker = new Worker({
      read: tables.read,
      write: (work) => tables.write((tx) => work(tx)),
      table: this.#table,
      queues: this.#queues,
      scope,
      clock,
      log,
      process,
      owner: `${process}.${ctx.generation}`,
      random: () => Buffer.from(ids.token(4), 'base64url').readUInt32BE(0) / 2 ** 32,
      ended: metrics.counter('jobs_ended_total', 'Jobs that ended, by queue and how they ended.', [
        'queue',
        'state',
      ]),
      left: () => events.emit(left, {}),
    });
    events.on(left, () => this.#worker.wake());
    ctx.extend.contribute(JobSources, id, this);
    scope.task('do jobs', (signal) => this.#worker.run(signal));
  }

  /** Declares how jobs of a name are done. Before commit: a job of an unknown name waits. */
  queue<Payload>(name: string, options: QueueOptions<Payload, T>): void {
    this.#queues.set(name, new Queue(name, options));
  }

  /** Adds jobs in the transaction of the caller; those of them that are new, by their ids. */
  async add<Payload>(
    tx: Kysely<T>,
    name: string,
    jobs: readonly NewJob<Payload>[],
  ): Promise<ReadonlySet<string>> {
    if (jobs.length === 0) {
      return new Set();
    }
    const queue = this.#queue(name);
    const rows = new JobRows(tx, this.#table);
    await this.#requireRoom(rows, queue, jobs.length);
    const now = Math.floor(this.#ctx.clock.now());
    const all = jobs.map((job) => this.#row(job, queue, now));
    const [again, once] = [true, false].map((wanted) =>
      all.filter((_row, at) => (jobs[at]!.again ?? false) === wanted),
    );
    const added = [
      ...(again!.length > 0 ? await rows.add(again!, true) : []),
      ...(once!.length > 0 ? await rows.add(once!, false) : []),
    ];
    this.#worker.expect();
    return new Set(added);
  }

  /** Removes the job of a key that no lease has; one that runs is done, and not done once more. */
  async withdraw(tx: Kysely<T>, name: string, key: string): Promise<void> {
    await new JobRows(tx, this.#table).withdraw(name, key);
  }

  /** Returns whether any job of a queue waits or runs, as the transaction sees it. */
  hasOpen(tx: Kysely<T>, name: string): Promise<boolean> {
    return new JobRows(tx, this.#table).hasOpen(name);
  }

  /** Resumes parked jobs; a running one is repeated. All of a queue, or one. */
  async wake(
    name: string,
    which?: { readonly id: string } | { readonly key: string },
  ): Promise<void> {
    await this.#tables.write((tx) =>
      new JobRows(tx, this.#table).wake(name, which, Math.floor(this.#ctx.clock.now())),
    );
    this.#worker.expect();
  }

  async page(
    filter: JobFilter,
    before: JobPosition | undefined,
    limit: number,
  ): Promise<readonly JobView[]> {
    const rows = await this.#rows.page({ ...filter, unlisted: this.#unlisted }, before, limit);
    return rows.map((row) => this.#shown(row));
  }

  count(filter: JobFilter): Promise<number> {
    return this.#rows.count({ ...filter, unlisted: this.#unlisted });
  }

  async find(id: string): Promise<JobView | undefined> {
    const row = await this.#rows.find(id);
    return row && !this.#unlisted.includes(row.queue) ? this.#shown(row) : undefined;
  }

  get #unlisted(): readonly string[] {
    return [...this.#queues.values()].filter(({ listed }) => !listed).map(({ name }) => name);
  }

  /**
   * Ends a waiting job, in the transaction that informs its owner; a running one is asked to stop.
   */
  async cancel(id: string, by: string): Promise<JobView> {
    const { clock } = this.#ctx;
    const row = await this.#tables.write(async (tx) => {
      const rows = new JobRows(tx as AnyDb, this.#table);
      const found = await rows.find(id);
      const queue = found && this.#queues.get(found.queue);
      if (found === undefined) {
        throw new SvcError('not_found', `there is no job ${id}`, { reason: 'jobs.unknown' });
      }
      if (queue?.cancellable === false) {
        throw new SvcError('conflict', `jobs of ${found.queue} cannot be cancelled`, {
          reason: 'jobs.not_cancellable',
        });
      }
      const cause = `cancelled by ${by}`;
      const ended = await rows.endIdle(
        id,
        'cancelled',
        cause,
        Math.floor(clock.now()),
        queue?.keepsKeys ?? false,
      );
      if (ended !== undefined) {
        await queue?.failed(tx as AnyDb, ended, 'cancelled', cause);
      }
      const after = ended ?? (await rows.askToCancel(id));
      if (after === undefined) {
        throw new SvcError('conflict', `job ${id} has ended already: ${found.state}`, {
          reason: 'jobs.ended',
        });
      }
      return after;
    });
    this.#worker.cancel(row.seq);
    return this.#shown(row);
  }

  async #requireRoom(rows: JobRows, queue: Queue, more: number): Promise<void> {
    const { maxWaiting, name } = queue;
    if (maxWaiting !== Infinity && (await rows.waiting(name, maxWaiting)) + more > maxWaiting) {
      throw new SvcError(
        'rate_limited',
        `${maxWaiting} jobs of ${name} wait already; try again later`,
        {
          reason: 'jobs.queue_full',
          retryAfterSeconds: 30,
        },
      );
    }
  }

  #queue(name: string): Queue {
    const queue = this.#queues.get(name);
    if (queue === undefined) {
      throw new SvcError(
        'internal',
        `${this.#ctx.id} has no queue ${name}; declare it in activate`,
      );
    }
    return queue;
  }

  #row<Payload>(
    { id, payload, key, lane, title, delayMs = 0 }: NewJob<Payload>,
    queue: Queue,
    now: number,
  ): NewRow {
    const text = JSON.stringify(payload) ?? 'null';
    const bytes = Buffer.byteLength(text);
    if (bytes > maxPayloadBytes) {
      throw new SvcError(
        'invalid_argument',
        `a job of ${queue.name} has ${bytes} bytes, ${maxPayloadBytes} are allowed`,
        { reason: 'jobs.payload_too_large', status: 413 },
      );
    }
    const wait = Math.max(0, Math.ceil(delayMs));
    return {
      id: id ?? this.#ctx.ids.uuid(),
      queue: queue.name,
      key: key?.slice(0, maxName) ?? null,
      lane: lane?.slice(0, maxName) ?? null,
      title: (title ?? queue.titleOf(payload)).slice(0, maxName),
      payload: text,
      due_at: now + wait,
      wait_ms: wait,
      deadline_at: queue.deadlineMs === undefined ? null : now + queue.deadlineMs,
      created_at: now,
    };
  }

  #shown(row: JobRow): JobView {
    const { id, queue, title, state, attempts, created_at, started_at, ended_at, error } = row;
    const isOpen = state === 'waiting' || state === 'running' || state === 'parked';
    return {
      id,
      queue,
      title,
      state,
      attempts,
      created_at,
      due_at: state === 'waiting' ? row.due_at : null,
      started_at,
      ended_at,
      progress: row.progress === null ? null : (JSON.parse(row.progress) as JobView['progress']),
      error,
      cancellable: isOpen && row.cancel === 0 && (this.#queues.get(queue)?.cancellable ?? true),
    };
  }
}
