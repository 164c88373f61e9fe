import { type Kysely, type RawBuilder, sql } from 'kysely';

import type { JobRow, JobState } from './table.ts';

/** Columns of a new job; all others have their defaults. */
export type NewRow = Pick<
  JobRow,
  | 'id'
  | 'queue'
  | 'key'
  | 'lane'
  | 'title'
  | 'payload'
  | 'due_at'
  | 'wait_ms'
  | 'deadline_at'
  | 'created_at'
>;

/** A lease that ended without its owner. */
export type Abandoned = Pick<JobRow, 'seq' | 'epoch' | 'queue'>;

export interface JobFilter {
  readonly queue?: string | undefined;
  readonly state?: JobState | undefined;
}

/** Filter, without the queues that are not listed. */
export interface ListFilter extends JobFilter {
  readonly unlisted: readonly string[];
}

/** Start of a page: after this job in the order of creation. */
export interface JobPosition {
  readonly created_at: number;
  readonly id: string;
}

/** State in which a successful attempt leaves its job. */
interface Settled {
  readonly state: 'done' | 'parked' | 'waiting';
  readonly afterMs?: number | undefined;
}

/** Which lease writes. */
export type Lease = Pick<JobRow, 'seq' | 'epoch'>;

// oxlint-disable-next-line typescript/no-explicit-any -- of a plugin's tables the library knows one, by a name given at run time
export type AnyDb = Kysely<any>;

const isOpen = sql<boolean>`state IN ('waiting', 'running')`;

/** All SQL of one table of jobs, over what may be read or one transaction. */
export class JobRows {
  readonly #db: AnyDb;
  readonly #table: RawBuilder<unknown>;

  constructor(db: AnyDb, table: string) {
    this.#db = db;
    this.#table = sql.table(table);
  }

  /** Ids of those that are new; a key that another job has is no error. `again`: that one is done once more, and no later. */
  async add(rows: readonly NewRow[], again: boolean): Promise<ReadonlySet<string>> {
    const own = (column: keyof JobRow) => sql`${this.#table}.${sql.ref(column)}`;
    const json = JSON.stringify(
      (again ? oneOfEachKey(rows) : rows).map((row) => [
        row.id,
        row.queue,
        row.key,
        row.lane,
        row.title,
        row.payload,
        row.due_at,
        row.wait_ms,
        row.deadline_at,
        row.created_at,
      ]),
    );
    const taken = again
      ? sql`on conflict (queue, key) do update set due_at = iif(${own('state')} = 'running' and ${own('again')} = 0, excluded.due_at, min(${own('due_at')}, excluded.due_at)), again = iif(${own('state')} = 'running', 1, 0), state = iif(${own('state')} = 'parked', 'waiting', ${own('state')})`
      : sql`on conflict (queue, key) do nothing`;
    const { rows: added } = await sql<{ id: string }>`
      insert into ${this.#table} (id, queue, key, lane, title, payload, state, due_at, wait_ms, deadline_at, created_at)
      select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, 'waiting', cast(value ->> 6 as integer), cast(value ->> 7 as integer), cast(value ->> 8 as integer), cast(value ->> 9 as integer)
      from json_each(${json}) where true order by cast(key as integer) ${taken} returning id`.execute(
      this.#db,
    );
    const given = new Set(rows.map(({ id }) => id));
    return new Set(added.map(({ id }) => id).filter((id) => given.has(id)));
  }

  async find(id: string): Promise<JobRow | undefined> {
    const { rows } = await sql<JobRow>`select * from ${this.#table} where id = ${id}`.execute(
      this.#db,
    );
    return rows[0];
  }

  /** Counts waiting jobs, up to `max`. */
  async waiting(queue: string, max: number): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from (select 1 from ${this.#table} where queue = ${queue} and state = 'waiting' limit ${max}) as counted`.execute(
      this.#db,
    );
    return rows[0]!.count;
  }

  async hasOpen(queue: string): Promise<boolean> {
    const { rows } = await sql`
      select 1 from ${this.#table} where queue = ${queue} and ${isOpen} limit 1`.execute(this.#db);
    return rows.length > 0;
  }

  /** Jobs whose time has come and that no earlier one of their lane holds up. */
  async due(
    queue: string,
    now: number,
    limit: number,
    order: 'oldest' | 'newest',
  ): Promise<readonly number[]> {
    const { rows } = await sql<{ seq: number }>`
      select seq from ${this.#table} as job
      where queue = ${queue} and state = 'waiting' and (due_at <= ${now} or due_at > ${now} + wait_ms)
        and (lane is null or not exists (
          select 1 from ${this.#table} as earlier
          where earlier.queue = job.queue and earlier.lane = job.lane and earlier.seq < job.seq and earlier.${isOpen}))
      order by seq ${sql.raw(order === 'oldest' ? 'asc' : 'desc')} limit ${limit}`.execute(
      this.#db,
    );
    return rows.map(({ seq }) => seq);
  }

  /** When the first of those falls due that are not due yet. */
  async nextAt(queue: string, now: number): Promise<number | undefined> {
    const { rows } = await sql<{ at: number | null }>`
      select min(due_at) as at from ${this.#table} where queue = ${queue} and state = 'waiting' and due_at > ${now}`.execute(
      this.#db,
    );
    return rows[0]?.at ?? undefined;
  }

  /** Leases those of them that still wait: each under an epoch that none had before. */
  async lease(
    seqs: readonly number[],
    owner: string,
    now: number,
    until: number,
  ): Promise<readonly JobRow[]> {
    const { rows } = await sql<JobRow>`
      update ${this.#table}
      set state = 'running', owner = ${owner}, lease_until = ${until}, epoch = epoch + 1, attempts = attempts + 1, started_at = coalesce(started_at, ${now})
      where seq in (select cast(value as integer) from json_each(${JSON.stringify(seqs)})) and state = 'waiting' returning *`.execute(
      this.#db,
    );
    return rows.toSorted((a, b) => a.seq - b.seq);
  }

  async holds({ seq, epoch }: Lease): Promise<boolean> {
    const { rows } = await sql`
      select 1 from ${this.#table} where seq = ${seq} and epoch = ${epoch} and state = 'running'`.execute(
      this.#db,
    );
    return rows.length > 0;
  }

  /** Extends leases; those that are left out are lost. */
  async extend(
    leases: readonly Lease[],
    until: number,
  ): Promise<readonly (Lease & Pick<JobRow, 'cancel'>)[]> {
    const pairs = JSON.stringify(leases.map(({ seq, epoch }) => [seq, epoch]));
    const { rows } = await sql<Lease & Pick<JobRow, 'cancel'>>`
      update ${this.#table} set lease_until = ${until}
      where state = 'running' and (seq, epoch) in (select cast(value ->> 0 as integer), cast(value ->> 1 as integer) from json_each(${pairs})) returning seq, epoch, cancel`.execute(
      this.#db,
    );
    return rows;
  }

  async progress({ seq, epoch }: Lease, progress: string): Promise<void> {
    await sql`update ${this.#table} set progress = ${progress} where seq = ${seq} and epoch = ${epoch} and state = 'running'`.execute(
      this.#db,
    );
  }

  /** Makes the job wait again; returns whether the lease still held it. */
  async putBack(
    { seq, epoch }: Lease,
    {
      due_at,
      wait_ms,
      error,
      uncounted,
    }: Pick<JobRow, 'due_at' | 'wait_ms' | 'error'> & { readonly uncounted: boolean },
  ): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`
      update ${this.#table}
      set state = 'waiting', owner = null, lease_until = null, due_at = ${due_at}, wait_ms = ${wait_ms}, error = ${error}, again = 0,
        attempts = attempts - ${uncounted ? 1 : 0}
      where seq = ${seq} and epoch = ${epoch} and state = 'running'`.execute(this.#db);
    return numAffectedRows > 0n;
  }

  /**
   * Ends the job; returns whether the lease still held it. One that was requested again waits again
   * instead.
   */
  async settle(
    { seq, epoch }: Lease,
    { state, afterMs = 0 }: Settled,
    now: number,
    { keepsKey, keepsRow }: { readonly keepsKey: boolean; readonly keepsRow: boolean },
  ): Promise<boolean> {
    const mine = sql`where seq = ${seq} and epoch = ${epoch} and state = 'running'`;
    if (state === 'done' && !keepsRow) {
      const gone = await sql`delete from ${this.#table} ${mine} and again = 0`.execute(this.#db);
      if ((gone.numAffectedRows ?? 0n) > 0n) {
        return true;
      }
    }
    const isOpenStill = state === 'done' ? sql`again = 1` : sql`true`;
    const wait = Math.max(0, Math.ceil(afterMs));
    // A job that was requested again has the time for which it was requested in due_at.
    const asked = state === 'waiting' ? sql`min(${now + wait}, due_at)` : sql`due_at`;
    const due = sql`max(${now}, iif(again = 0, ${now + wait}, ${asked}))`;
    const { numAffectedRows = 0n } = await sql`
      update ${this.#table}
      set state = iif(again = 1, 'waiting', ${state}), again = 0, owner = null, lease_until = null, error = null,
        due_at = ${due}, wait_ms = ${due} - ${now},
        attempts = iif(${isOpenStill}, 0, attempts), progress = iif(again = 1, null, progress),
        ended_at = iif(${isOpenStill}, null, cast(${now} as integer)), key = iif(${isOpenStill} or ${keepsKey ? sql`true` : sql`false`}, key, null)
      ${mine}`.execute(this.#db);
    return numAffectedRows > 0n;
  }

  /** Ends the job as failed; returns whether the lease still held it. */
  async fail(
    { seq, epoch }: Lease,
    state: 'failed' | 'cancelled',
    error: string,
    now: number,
    keepsKey: boolean,
  ): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`
      update ${this.#table}
      set state = ${state}, owner = null, lease_until = null, error = ${error}, ended_at = ${now}, again = 0, key = ${keepsKey ? sql`key` : sql`null`}
      where seq = ${seq} and epoch = ${epoch} and state = 'running'`.execute(this.#db);
    return numAffectedRows > 0n;
  }

  /** Ends one that no lease has; undefined when it was not so. */
  async endIdle(
    id: string,
    state: 'failed' | 'cancelled',
    error: string,
    now: number,
    keepsKey: boolean,
  ): Promise<JobRow | undefined> {
    const { rows } = await sql<JobRow>`
      update ${this.#table} set state = ${state}, error = ${error}, ended_at = ${now}, again = 0, key = ${keepsKey ? sql`key` : sql`null`}
      where id = ${id} and state in ('waiting', 'parked') returning *`.execute(this.#db);
    return rows[0];
  }

  async withdraw(queue: string, key: string): Promise<void> {
    await sql`update ${this.#table} set again = 0 where queue = ${queue} and key = ${key}`.execute(
      this.#db,
    );
    await sql`
      delete from ${this.#table} where queue = ${queue} and key = ${key} and state in ('waiting', 'parked')`.execute(
      this.#db,
    );
  }

  async askToCancel(id: string): Promise<JobRow | undefined> {
    const { rows } = await sql<JobRow>`
      update ${this.#table} set cancel = 1 where id = ${id} and state = 'running' returning *`.execute(
      this.#db,
    );
    return rows[0];
  }

  /** Makes parked jobs wait again; a running one is repeated. By id, by key, or all of a queue. */
  async wake(
    queue: string,
    which: { readonly id: string } | { readonly key: string } | undefined,
    now: number,
  ): Promise<void> {
    const those =
      which === undefined
        ? sql`state = 'parked'`
        : 'id' in which
          ? sql`id = ${which.id}`
          : sql`key = ${which.key}`;
    await sql`
      update ${this.#table}
      set again = iif(state = 'running', 1, again), due_at = ${now}, state = iif(state = 'parked', 'waiting', state)
      where queue = ${queue} and ${those} and state in ('parked', 'waiting', 'running')`.execute(
      this.#db,
    );
  }

  /**
   * Returns leases that their owners cannot end any more: of a process that is gone, or expired. A
   * lease too far in the future stems from a clock that was set back.
   */
  async abandoned(process: string, now: number, leaseMs: number): Promise<readonly Abandoned[]> {
    const { rows } = await sql<Abandoned>`
      select seq, epoch, queue from ${this.#table}
      where state = 'running' and (owner not like ${`${process}.%`} or lease_until <= ${now} or lease_until > ${now + 2 * leaseMs})`.execute(
      this.#db,
    );
    return rows;
  }

  async bySeq(seq: number): Promise<JobRow | undefined> {
    const { rows } = await sql<JobRow>`select * from ${this.#table} where seq = ${seq}`.execute(
      this.#db,
    );
    return rows[0];
  }

  /** Returns jobs that wait beyond their deadline. */
  async overdue(now: number): Promise<readonly JobRow[]> {
    const { rows } = await sql<JobRow>`
      select * from ${this.#table} where state = 'waiting' and deadline_at <= ${now} limit 500`.execute(
      this.#db,
    );
    return rows;
  }

  /** Ended jobs of a queue that ended before: those that were done, and the others. */
  async removeEnded(
    queue: string,
    { done, failed }: { readonly done: number; readonly failed: number },
  ): Promise<void> {
    await sql`
      delete from ${this.#table}
      where ended_at is not null and ended_at < iif(state = 'done', cast(${Math.ceil(done)} as integer), cast(${Math.ceil(failed)} as integer)) and queue = ${queue}`.execute(
      this.#db,
    );
  }

  async page(
    filter: ListFilter,
    before: JobPosition | undefined,
    limit: number,
  ): Promise<readonly JobRow[]> {
    const { rows } = await sql<JobRow>`
      select * from ${this.#table} where ${matching(filter)}
        and ${before === undefined ? sql`true` : sql`(created_at, id) < (${before.created_at}, ${before.id})`}
      order by created_at desc, id desc limit ${limit}`.execute(this.#db);
    return rows;
  }

  async count(filter: ListFilter): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${this.#table} where ${matching(filter)}`.execute(this.#db);
    return rows[0]!.count;
  }
}

/** One statement must not meet a key twice: of several jobs of one key the first stands for all, due when the earliest of them is. */
function oneOfEachKey(rows: readonly NewRow[]): readonly NewRow[] {
  const found = new Map<string, NewRow>();
  for (const row of rows) {
    const name = row.key === null ? row.id : `${row.queue} ${row.key}`;
    const first = found.get(name);
    found.set(
      name,
      first === undefined ? row : { ...first, due_at: Math.min(first.due_at, row.due_at) },
    );
  }
  return [...found.values()];
}

const matching = ({ queue, state, unlisted }: ListFilter): RawBuilder<unknown> =>
  sql.join(
    [
      queue === undefined ? sql`true` : sql`queue = ${queue}`,
      state === undefined ? sql`true` : sql`state = ${state}`,
      ...unlisted.map((name) => sql`queue <> ${name}`),
    ],
    sql` and `,
  );
