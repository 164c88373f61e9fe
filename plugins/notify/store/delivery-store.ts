import { sql } from 'kysely';

import { isAtRest, isQueued, isUnfinished, mayBeKnown, wordsGroup } from './delivery-conditions.ts';
import type { Delivery, Notify } from './tables.ts';

/** End of a delivery by its last attempt. */
export interface DeliveryEnd {
  readonly sent: boolean;
  readonly error: string | null;
  readonly unclear: boolean;
}

/** When a delivery is tried again, and what the try before it came to. */
export interface Retry {
  readonly due_at: number;
  readonly wait_ms: number;
  readonly error: string | null;
  readonly unclear: boolean;
  /** The try does not count. */
  readonly uncounted: boolean;
  /** True after so many failures that people should know. */
  readonly isDelayed: boolean;
}

/** The queue: a row for each notice and channel, and for each digest and test. */
export class DeliveryStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  find(id: string): Promise<Delivery | undefined> {
    return this.#db
      .selectFrom('notify_deliveries')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /**
   * Folds what a resolve has made idle: the firing and its reminders that are still unsent, and then the resolve itself where
   * the channel never got the firing. For one channel, or for some incidents.
   */
  async foldResolved(
    where: { readonly channel: number } | { readonly incidents: readonly number[] },
    now: number,
  ): Promise<void> {
    const queued = this.#db
      .updateTable('notify_deliveries')
      .set({ state: 'folded', finished_at: now })
      .where(
        'channel' in where
          ? sql<boolean>`channel_id = ${where.channel}`
          : sql<boolean>`incident_id in (select cast(value as integer) from json_each(${JSON.stringify(where.incidents)}))`,
      )
      .where(isQueued)
      .where(isAtRest);
    await queued
      .where('kind', 'in', ['firing', 'reminder'])
      .where(
        sql<boolean>`exists (select 1 from notify_notices n where n.incident_id = notify_deliveries.incident_id and n.fire_seq = notify_deliveries.fire_seq and n.kind = 'resolved')`,
      )
      .execute();
    await queued
      .where('kind', '=', 'resolved')
      .where(
        sql<boolean>`not exists (select 1 from notify_deliveries f where f.incident_id = notify_deliveries.incident_id and f.fire_seq = notify_deliveries.fire_seq and f.channel_id = notify_deliveries.channel_id and f.kind = 'firing' and ${mayBeKnown('f')})`,
      )
      .execute();
  }

  /** Channels with deliveries to send, or in the middle of it. */
  async openChannels(): Promise<readonly number[]> {
    const rows = await this.#db
      .selectFrom('notify_deliveries')
      .select('channel_id')
      .distinct()
      .where(isUnfinished)
      .execute();
    return rows.map(({ channel_id }) => channel_id);
  }

  async hasQueued(channel: number): Promise<boolean> {
    const found = await this.#db
      .selectFrom('notify_deliveries')
      .select('seq')
      .where('channel_id', '=', channel)
      .where(isQueued)
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  }

  /** A version without jobs takes `owner` for another process, and what it was sending for interrupted. */
  async startTry(seq: number): Promise<Delivery> {
    return await this.#db
      .updateTable('notify_deliveries')
      .set({ state: 'sending', owner: 'job', attempts: sql<number>`attempts + 1` })
      .where('seq', '=', seq)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** The end of one, and of all that a digest holds; its channel may have been deleted while it was sent. */
  async finish(row: Delivery, { sent, error, unclear }: DeliveryEnd, now: number): Promise<void> {
    const end = { got: sent ? 1 : 0, finished_at: now, error, ...(unclear && { unclear: 1 }) };
    if (sent) {
      await sql`
        insert into notify_groups (channel_id, group_key, sent_at)
        select distinct channel_id, group_key, cast(${now} as integer) from notify_deliveries where (seq = ${row.seq} or digest = ${row.seq}) and kind not in ('digest', 'test')
          and exists (select 1 from notify_channels where id = notify_deliveries.channel_id)
        on conflict (channel_id, group_key) do update set sent_at = excluded.sent_at`.execute(
        this.#db,
      );
    }
    await this.#db
      .updateTable('notify_deliveries')
      .set({ ...end, state: sent ? 'sent' : 'failed' })
      .where('seq', '=', row.seq)
      .execute();
    await this.#db
      .updateTable('notify_deliveries')
      .set({ ...end, state: sent ? 'folded' : 'failed' })
      .where('digest', '=', row.seq)
      .where(isQueued)
      .execute();
  }

  /** Records a remark about a sent delivery. */
  async note(seq: number, words: string): Promise<void> {
    await this.#db
      .updateTable('notify_deliveries')
      .set({ error: words })
      .where('seq', '=', seq)
      .execute();
  }

  async requeue(
    row: Delivery,
    { unclear, uncounted, isDelayed, ...again }: Retry,
    now: number,
  ): Promise<void> {
    await this.#db
      .updateTable('notify_deliveries')
      .set({
        ...again,
        state: 'queued',
        ...(unclear && { unclear: 1 }),
        ...(uncounted && { attempts: uncountedTry }),
      })
      .where('seq', '=', row.seq)
      .execute();
    if (isDelayed) {
      await this.#db
        .updateTable('notify_deliveries')
        .set({ delayed_at: sql<number>`coalesce(delayed_at, ${now})`, error: again.error })
        .where((is) => is.or([is('seq', '=', row.seq), is('digest', '=', row.seq)]))
        .where('kind', 'not in', ['digest', 'test'])
        .where(isUnfinished)
        .execute();
    }
    if (unclear) {
      await this.#db
        .updateTable('notify_deliveries')
        .set({ unclear: 1 })
        .where('digest', '=', row.seq)
        .where(isQueued)
        .execute();
    }
  }

  /** Restarts a delivery that was given up, with a new id for its future outcome. */
  async beginAnew(row: Delivery, id: string, now: number): Promise<Delivery> {
    return await this.#db
      .updateTable('notify_deliveries')
      .set({
        id,
        state: 'queued',
        digest: null,
        attempts: 0,
        due_at: now,
        wait_ms: 0,
        finished_at: null,
        recorded: 0,
        announced: 0,
        delayed_at: null,
        delay_recorded: 0,
      })
      .where('seq', '=', row.seq)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** Puts back what an earlier lease of the channel was sending; a try whose end is not known does not count. */
  async requeueInterrupted(channel: number): Promise<void> {
    const lost = sql<boolean>`${isUnfinished} and state = 'sending' and channel_id = ${channel}`;
    const parents = await this.#db
      .selectFrom('notify_deliveries')
      .select('seq')
      .where(lost)
      .execute();
    for (const { seq } of parents) {
      await this.#db
        .updateTable('notify_deliveries')
        .set({ unclear: 1 })
        .where(isQueued)
        .where('digest', '=', seq)
        .execute();
      await this.#db
        .updateTable('notify_deliveries')
        .set({ state: 'queued', unclear: 1, attempts: uncountedTry })
        .where('seq', '=', seq)
        .execute();
    }
  }

  /** Fails all that waits for a channel that was deleted or disabled. */
  async failQueued(channel: number, error: string, now: number, alsoTests: boolean): Promise<void> {
    await this.#db
      .deleteFrom('notify_deliveries')
      .where('channel_id', '=', channel)
      .where(isQueued)
      .where('kind', '=', 'digest')
      .execute();
    await this.#db
      .updateTable('notify_deliveries')
      .set({ state: 'failed', error, finished_at: now })
      .where('channel_id', '=', channel)
      .where(isQueued)
      .$if(!alsoTests, (query) =>
        query.where((eb) => eb.or([eb('kind', '!=', 'test'), eb('group_key', '=', wordsGroup)])),
      )
      .execute();
  }

  /** Whatever waits after a try that failed, of one channel or one delivery, is tried at once. How many that are, each for itself that one message tells. */
  async hurry(
    where: { readonly channel: number } | { readonly seq: number },
    now: number,
  ): Promise<number> {
    const tried = sql<boolean>`digest in (select seq from notify_deliveries where attempts > 0 and ${isQueued})`;
    const hurried = await this.#db
      .updateTable('notify_deliveries')
      .set({ due_at: now, wait_ms: 0 })
      .where(
        'channel' in where
          ? sql<boolean>`channel_id = ${where.channel}`
          : sql<boolean>`seq = ${where.seq}`,
      )
      .where(isQueued)
      .where((is) => is.or([is('attempts', '>', 0), is('delayed_at', 'is not', null), tried]))
      .returning('kind')
      .execute();
    return hurried.filter(({ kind }) => kind !== 'digest').length;
  }
}

const uncountedTry = sql<number>`max(attempts - 1, 0)`;
