import { type ExpressionBuilder, type Kysely, sql } from 'kysely';

import type { Tables } from '../sdk/index.ts';
import type { CoreTables, OutboxRow } from '../storage/index.ts';

/** A message that is due, as the dispatcher takes it. */
export type Due = Pick<OutboxRow, 'id' | 'topic' | 'payload' | 'enqueued_at' | 'attempt'>;

/** What became of a try. */
export type Settled = { readonly id: string } & (
  | { readonly outcome: 'delivered' }
  | {
      readonly outcome: 'again';
      readonly attempt: number;
      readonly dueAt: number;
      readonly error: string | null;
    }
  | { readonly outcome: 'failed'; readonly error: string }
);

/** No back-off is longer. */
export const longestBackoffMs = 5 * 60_000;

/** Failed messages are kept this long for people to look at. */
const keepFailedMs = 30 * 24 * 3_600_000;

/** Ids in one statement. */
const chunk = 200;

/** What became of the tries that ended, and what the dispatcher takes next. */
export interface Turn {
  readonly settled: readonly Settled[];
  readonly release: readonly string[];
  readonly take: readonly Due[];
  readonly leaseMs: (topic: string) => number;
}

/** The statements of the outbox. Rows are delivered in the order of `rowid`, which is the order of their commits. */
export class OutboxRows {
  readonly #tables: Tables<CoreTables>;

  constructor(tables: Tables<CoreTables>) {
    this.#tables = tables;
  }

  /** Joins the write it is called in. */
  async insert(row: OutboxRow): Promise<void> {
    await this.#tables.write((tx) => tx.insertInto('core_outbox').values(row).execute());
  }

  /** Messages of `topic` whose time has come and that no earlier one of their key holds up. */
  due(topic: string, now: number, limit: number): Promise<Due[]> {
    return this.#tables.read
      .selectFrom('core_outbox as message')
      .select(['id', 'topic', 'payload', 'enqueued_at', 'attempt'])
      .where('topic', '=', topic)
      .where('state', '=', 'waiting')
      .where((is) => is.or([is('due_at', '<=', now), becauseTheClockWentBack(is, now)]))
      .where((is) =>
        is.not(
          is.exists(
            is
              .selectFrom('core_outbox as earlier')
              .select('earlier.id')
              .whereRef('earlier.topic', '=', 'message.topic')
              .whereRef('earlier.key', '=', 'message.key')
              .where('earlier.state', 'in', ['waiting', 'leased'])
              .where(sql<boolean>`earlier.rowid < message.rowid`),
          ),
        ),
      )
      .orderBy(sql`message.rowid`)
      .limit(limit)
      .execute();
  }

  /** Leased messages whose lease is over, or further away than any lease can be because the clock went back. */
  async overdue(now: number, longestLeaseMs: number): Promise<string[]> {
    const rows = await this.#tables.read
      .selectFrom('core_outbox')
      .select('id')
      .where('state', '=', 'leased')
      .where((is) =>
        is.or([is('lease_until', '<=', now), is('lease_until', '>', now + longestLeaseMs)]),
      )
      .limit(chunk)
      .execute();
    return rows.map((row) => row.id);
  }

  /** Whatever is leased belongs to a process that is gone. Its try has counted. */
  async releaseAll(): Promise<void> {
    await this.#tables.write((tx) =>
      tx.updateTable('core_outbox').set(waitingAgain).where('state', '=', 'leased').execute(),
    );
  }

  /** One turn of the dispatcher in one commit: what is settled goes, what is taken is leased. */
  async turn(now: number, { settled, release, take, leaseMs }: Turn): Promise<void> {
    await this.#tables.write(async (tx) => {
      await forget(
        tx,
        settled.filter((one) => one.outcome === 'delivered').map((one) => one.id),
      );
      for (const one of settled) {
        await keep(tx, one, now);
      }
      for (const ids of chunks(release)) {
        await tx.updateTable('core_outbox').set(waitingAgain).where('id', 'in', ids).execute();
      }
      for (const topic of new Set(take.map((due) => due.topic))) {
        const ids = take.filter((due) => due.topic === topic).map((due) => due.id);
        await tx
          .updateTable('core_outbox')
          .set((to) => ({
            state: 'leased',
            attempt: to('attempt', '+', 1),
            lease_until: now + leaseMs(topic),
          }))
          .where('id', 'in', ids)
          .execute();
      }
    });
  }
}

const waitingAgain = { state: 'waiting', lease_until: null };

/** A retry never waits longer than the longest back-off, whatever the clock of its last try said. */
const becauseTheClockWentBack = (
  is: ExpressionBuilder<{ message: OutboxRow }, 'message'>,
  now: number,
) => is.and([is('attempt', '>', 0), is('due_at', '>', now + longestBackoffMs)]);

async function forget(tx: Kysely<CoreTables>, delivered: readonly string[]): Promise<void> {
  for (const ids of chunks(delivered)) {
    await tx.deleteFrom('core_outbox').where('id', 'in', ids).execute();
  }
}

async function keep(tx: Kysely<CoreTables>, settled: Settled, now: number): Promise<void> {
  const row = tx.updateTable('core_outbox').where('id', '=', settled.id);
  switch (settled.outcome) {
    case 'delivered':
      return;
    case 'again':
      await row
        .set({
          state: 'waiting',
          lease_until: null,
          attempt: settled.attempt,
          due_at: settled.dueAt,
          last_error: settled.error,
        })
        .execute();
      return;
    case 'failed':
      await row.set({ state: 'failed', lease_until: null, last_error: settled.error }).execute();
      await tx
        .deleteFrom('core_outbox')
        .where('state', '=', 'failed')
        .where('enqueued_at', '<', now - keepFailedMs)
        .execute();
  }
}

const chunks = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / chunk) }, (_, at) =>
    all.slice(at * chunk, (at + 1) * chunk),
  );
