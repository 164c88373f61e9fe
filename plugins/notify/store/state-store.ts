import { sql } from 'kysely';

import type { Notify, StateRow } from './tables.ts';

/** Consecutive failed attempts that make a channel degraded. */
const degradedAfter = 10;

/** State of sending to a channel. Writing about a deleted one does nothing. */
export class StateStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  find(channel: number): Promise<StateRow | undefined> {
    return this.#db
      .selectFrom('notify_states')
      .selectAll()
      .where('channel_id', '=', channel)
      .executeTakeFirst();
  }

  async keepSendTimes(channel: number, recent: readonly number[]): Promise<void> {
    await this.#db
      .updateTable('notify_states')
      .set({ recent: JSON.stringify(recent) })
      .where('channel_id', '=', channel)
      .execute();
  }

  async recordSent(channel: number, now: number): Promise<void> {
    await this.#db
      .updateTable('notify_states')
      .set({
        last_sent_at: now,
        failures: 0,
        degraded_at: null,
        degraded_reason: null,
        blocked_until: null,
      })
      .where('channel_id', '=', channel)
      .execute();
  }

  async recordFailure(
    channel: number,
    error: string,
    {
      degraded,
      blockedUntil,
    }: { readonly degraded: boolean; readonly blockedUntil: number | null },
    now: number,
  ): Promise<void> {
    const tooMany = `${degradedAfter} attempts in a row failed; the last error: ${error}`;
    await this.#db
      .updateTable('notify_states')
      .set({
        last_error: error,
        last_error_at: now,
        failures: sql<number>`failures + 1`,
        blocked_until: blockedUntil,
        ...(degraded
          ? { degraded_at: sql<number>`coalesce(degraded_at, ${now})`, degraded_reason: error }
          : {
              degraded_at: sql<
                number | null
              >`case when failures + 1 >= ${degradedAfter} then coalesce(degraded_at, ${now}) else degraded_at end`,
              degraded_reason: sql<
                string | null
              >`case when failures + 1 >= ${degradedAfter} then ${tooMany} else degraded_reason end`,
            }),
      })
      .where('channel_id', '=', channel)
      .execute();
  }
}
