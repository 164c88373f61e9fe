import { type Selectable, sql, type SqlBool } from 'kysely';
import type { RunEvent } from 'svc/contracts/chat';
import type { Tables } from 'svc/sdk';

import type { Entry } from '../journal/journal.ts';
import type { ChatTables } from '../session/store.ts';
import { errors } from './errors.ts';

const openRunsOfOne = 8;
const waitingRunsOfOne = 100;

export type RunRow = Selectable<ChatTables['chat_runs']>;

/** Fields of a run before any worker has it. */
export const unworked = {
  state: 'running',
  finish_reason: null,
  holder: null,
  held_until: 0,
  reserved_seq: 0,
  ended_at: null,
  parent: null,
} as const;

/** Lease of a run: every write of a worker names the epoch under which it took the run. */
export type RunLease = Pick<RunRow, 'id' | 'epoch'>;

/** The only SQL of runs, their journals and their events. */
export class RunStore {
  readonly #tables: Tables<ChatTables>;

  constructor(tables: Tables<ChatTables>) {
    this.#tables = tables;
  }

  find(id: string): Promise<RunRow | undefined> {
    return this.#tables.read
      .selectFrom('chat_runs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Returns runs that people have started, newest first. */
  ofSession(session: string, most: number): Promise<RunRow[]> {
    return this.#tables.read
      .selectFrom('chat_runs')
      .selectAll()
      .where('session_id', '=', session)
      .where('parent', 'is', null)
      .orderBy('id', 'desc')
      .limit(most)
      .execute();
  }

  /** Runs that the agent of a run has requested. */
  within({ id, session_id: session }: RunRow): Promise<RunRow[]> {
    return this.#tables.read
      .selectFrom('chat_runs')
      .selectAll()
      .where('session_id', '=', session)
      .where('parent', '=', id)
      .execute();
  }

  /** Runs that are not over; of one owner, where one is given. */
  open(owner?: string): Promise<RunRow[]> {
    return this.#tables.read
      .selectFrom('chat_runs')
      .selectAll()
      .where('state', '<>', 'ended')
      .$if(owner !== undefined, (query) => query.where('owner', '=', owner!))
      .orderBy('id')
      .execute();
  }

  async insert(row: Omit<RunRow, 'cancelled' | 'epoch'>, first: Entry): Promise<void> {
    await this.#tables.write(async (tx) => {
      // Within the write: of many that come at once each sees those before it.
      const open = await tx
        .selectFrom('chat_runs')
        .select(['session_id', 'state'])
        .where('owner', '=', row.owner)
        .where('state', '<>', 'ended')
        .where('parent', 'is', null)
        .$if(row.parent !== null, (query) => query.limit(0))
        .execute();
      if (open.some(({ session_id: session }) => session === row.session_id)) {
        throw errors.run_open();
      }
      // One that waits for a signature takes nobody's place, but there is an end to them as well.
      const active = open.filter(({ state }) => state !== 'waiting').length;
      if (active >= openRunsOfOne) {
        throw errors.too_many_runs({ count: active, openRunsOfOne }, { retryAfterSeconds: 5 });
      }
      if (open.length - active >= waitingRunsOfOne) {
        throw errors.too_many_waiting({ waitingRunsOfOne });
      }
      await tx.insertInto('chat_runs').values(row).execute();
      await tx
        .insertInto('chat_journal')
        .values({ run_id: row.id, seq: 1, at: row.created_at, entry: JSON.stringify(first) })
        .execute();
    });
  }

  async update(id: string, change: Partial<RunRow>): Promise<void> {
    await this.#tables.write(
      async (tx) =>
        void (await tx.updateTable('chat_runs').set(change).where('id', '=', id).execute()),
    );
  }

  /** Changes a run under a lease; does nothing if another worker has it by now. */
  async change({ id, epoch }: RunLease, change: Partial<RunRow>): Promise<void> {
    await this.#tables.write(
      async (tx) =>
        void (await tx
          .updateTable('chat_runs')
          .set(change)
          .where('id', '=', id)
          .where('epoch', '=', epoch)
          .execute()),
    );
  }

  /**
   * Takes the run under a new epoch for `holder`, if it was free, its holder silent, or of a
   * process that is gone.
   */
  take(
    id: string,
    holder: string,
    until: number,
    now: number,
    isGone: (holder: string) => boolean,
  ): Promise<RunRow | undefined> {
    return this.#tables.write(async (tx) => {
      const row = await tx
        .selectFrom('chat_runs')
        .select(['holder', 'held_until', 'state'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (
        row === undefined ||
        row.state === 'ended' ||
        (row.holder !== null && row.held_until > now && !isGone(row.holder))
      ) {
        return undefined;
      }
      return await tx
        .updateTable('chat_runs')
        .set((of) => ({ state: 'running', holder, held_until: until, epoch: of('epoch', '+', 1) }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
    });
  }

  async keep(holder: string, ids: readonly string[], until: number): Promise<void> {
    const those = sql<SqlBool>`id in (select value from json_each(${JSON.stringify(ids)}))`;
    await this.#tables.write(
      async (tx) =>
        void (await tx
          .updateTable('chat_runs')
          .set({ held_until: until })
          .where('holder', '=', holder)
          .where(those)
          .execute()),
    );
  }

  async journal(id: string): Promise<readonly Entry[]> {
    const rows = await this.#tables.read
      .selectFrom('chat_journal')
      .select('entry')
      .where('run_id', '=', id)
      .orderBy('seq')
      .execute();
    return rows.map(({ entry }) => JSON.parse(entry) as Entry);
  }

  /** One commit: what happened, what readers were sent of it, and what else `along` writes. */
  async append(
    { id, epoch }: RunLease,
    at: number,
    {
      from,
      entries,
      events,
    }: {
      readonly from: number;
      readonly entries: readonly Entry[];
      readonly events: readonly RunEvent[];
    },
    along: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    await this.#tables.write(async (tx) => {
      const row = await tx
        .selectFrom('chat_runs')
        .select('epoch')
        .where('id', '=', id)
        .executeTakeFirst();
      if (row?.epoch !== epoch) {
        throw new LostRun(id);
      }
      if (entries.length > 0) {
        await tx
          .insertInto('chat_journal')
          .values(
            entries.map((entry, index) => ({
              run_id: id,
              seq: from + index,
              at,
              entry: JSON.stringify(entry),
            })),
          )
          .execute();
      }
      if (events.length > 0) {
        await tx
          .insertInto('chat_events')
          .values({ run_id: id, last_seq: events.at(-1)!.seq, events: JSON.stringify(events) })
          .execute();
      }
      await along();
    });
  }

  /** Returns events after `seq`, in order. */
  async events(id: string, seq: number): Promise<readonly RunEvent[]> {
    const rows = await this.#tables.read
      .selectFrom('chat_events')
      .select('events')
      .where('run_id', '=', id)
      .where('last_seq', '>', seq)
      .orderBy('last_seq')
      .execute();
    return rows.flatMap(({ events }) =>
      (JSON.parse(events) as RunEvent[]).filter((event) => event.seq > seq),
    );
  }

  /** Deletes the course of runs that ended before `at`; their messages stay. */
  async forgetBefore(at: number): Promise<number> {
    return this.#tables.write(async (tx) => {
      const over = tx
        .selectFrom('chat_runs')
        .select('id')
        .where('state', '=', 'ended')
        .where('ended_at', '<', at);
      await tx.deleteFrom('chat_events').where('run_id', 'in', over).execute();
      const { numDeletedRows } = await tx
        .deleteFrom('chat_journal')
        .where('run_id', 'in', over)
        .executeTakeFirst();
      return Number(numDeletedRows);
    });
  }
}

/** Another generation or process works on the run now, or its session is deleted. */
export class LostRun extends Error {
  constructor(id: string) {
    super(`run ${id} is held by another worker, or its session is deleted`);
  }
}
