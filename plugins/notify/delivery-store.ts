import { type Insertable, sql } from 'kysely';

import { isAtRest, isQueued, isSentByOther, isUnsentTo, mayBeKnown, type OutcomeConsumer } from './delivery-conditions.ts';
import type { Delivery, Notify, NotifyTables } from './tables.ts';

export type NewDelivery = Insertable<NotifyTables['notify_deliveries']>;

/** How the last try of a delivery ended it. */
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
}

/** The queue: a row for each notice and channel, and for each digest and test. */
export class DeliveryStore {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  async add(deliveries: readonly NewDelivery[]): Promise<void> {
    if (deliveries.length > 0) {
      await this.#db.insertInto('notify_deliveries').values(deliveries).execute();
    }
  }

  find(id: string): Promise<Delivery | undefined> {
    return this.#db.selectFrom('notify_deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Channels that got the firing, may have got it, or still wait for it. */
  async channelsOfFiring(incident: number, fireSeq: number): Promise<ReadonlySet<number>> {
    const rows = await this.#db
      .selectFrom('notify_deliveries')
      .select('channel_id')
      .where('incident_id', '=', incident)
      .where('fire_seq', '=', fireSeq)
      .where('kind', '=', 'firing')
      .where(mayBeKnown('notify_deliveries'))
      .execute();
    return new Set(rows.map(({ channel_id }) => channel_id));
  }

  /**
   * Folds what a resolve has made idle: the firing and its reminders that are still unsent, and then the resolve itself where
   * the channel never got the firing. For one channel, or for one firing of an incident.
   */
  async foldResolved(where: { readonly channel: number } | { readonly incident: number; readonly fireSeq: number }, now: number): Promise<void> {
    const queued = this.#db
      .updateTable('notify_deliveries')
      .set({ state: 'folded', finished_at: now })
      .where('channel' in where ? sql<boolean>`channel_id = ${where.channel}` : sql<boolean>`incident_id = ${where.incident} and fire_seq = ${where.fireSeq}`)
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

  /** Channels with deliveries to send. */
  async waitingChannels(): Promise<readonly number[]> {
    const rows = await this.#db.selectFrom('notify_deliveries').select('channel_id').distinct().where(isQueued).execute();
    return rows.map(({ channel_id }) => channel_id);
  }

  /** The oldest that are in no digest. */
  oldestSingle(channel: number, limit: number): Promise<Delivery[]> {
    return this.#queued(channel).where('digest', 'is', null).where('kind', 'not in', ['digest', 'test']).orderBy('seq').limit(limit).execute();
  }

  oldest(channel: number, kind: 'digest' | 'test'): Promise<Delivery | undefined> {
    return this.#queued(channel).where('kind', '=', kind).orderBy('seq').limit(1).executeTakeFirst();
  }

  #queued(channel: number) {
    return this.#db.selectFrom('notify_deliveries').selectAll().where('channel_id', '=', channel).where(isQueued);
  }

  async openDigest(row: NewDelivery): Promise<Delivery> {
    return await this.#db.insertInto('notify_deliveries').values(row).returningAll().executeTakeFirstOrThrow();
  }

  /** Puts everything that waits into the digest; how many it then holds. */
  async fillDigest(digest: Delivery): Promise<number> {
    await this.#db
      .updateTable('notify_deliveries')
      .set({ digest: digest.seq })
      .where('channel_id', '=', digest.channel_id)
      .where(isQueued)
      .where('digest', 'is', null)
      .where('kind', 'not in', ['digest', 'test'])
      .execute();
    const { total } = await this.#db
      .selectFrom('notify_deliveries')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('digest', '=', digest.seq)
      .where('state', '=', 'queued')
      .executeTakeFirstOrThrow();
    return total;
  }

  async remove(seq: number): Promise<void> {
    await this.#db.deleteFrom('notify_deliveries').where('seq', '=', seq).execute();
  }

  async startTry(seq: number, owner: string): Promise<Delivery> {
    return await this.#db
      .updateTable('notify_deliveries')
      .set({ state: 'sending', owner, attempts: sql<number>`attempts + 1` })
      .where('seq', '=', seq)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** The end of one, and of all that a digest holds. */
  async finish(row: Delivery, { sent, error, unclear }: DeliveryEnd, now: number): Promise<void> {
    const end = { got: sent ? 1 : 0, finished_at: now, error, ...(unclear && { unclear: 1 }) };
    await this.#db
      .updateTable('notify_deliveries')
      .set({ ...end, state: sent ? 'sent' : 'failed', owner: null })
      .where('seq', '=', row.seq)
      .execute();
    if (row.kind === 'digest') {
      await this.#db
        .updateTable('notify_deliveries')
        .set({ ...end, state: sent ? 'folded' : 'failed' })
        .where('digest', '=', row.seq)
        .where(isQueued)
        .execute();
    }
  }

  async requeue(row: Delivery, { unclear, uncounted, ...again }: Retry): Promise<void> {
    await this.#db
      .updateTable('notify_deliveries')
      .set({ ...again, state: 'queued', owner: null, ...(unclear && { unclear: 1 }), ...(uncounted && { attempts: uncountedTry }) })
      .where('seq', '=', row.seq)
      .execute();
    if (unclear && row.kind === 'digest') {
      await this.#db.updateTable('notify_deliveries').set({ unclear: 1 }).where('digest', '=', row.seq).where(isQueued).execute();
    }
  }

  /** Whether another owner left deliveries in the middle of a try. */
  async hasInterrupted(owner: string, processId: string, allOwners: boolean): Promise<boolean> {
    const lost = isSentByOther(owner, processId, allOwners);
    return (await this.#db.selectFrom('notify_deliveries').select('seq').where(lost).limit(1).executeTakeFirst()) !== undefined;
  }

  /** Puts back what another owner was sending; a try whose end is not known does not count. */
  async requeueInterrupted(owner: string, processId: string, allOwners: boolean): Promise<void> {
    const lost = isSentByOther(owner, processId, allOwners);
    await this.#db
      .updateTable('notify_deliveries')
      .set({ unclear: 1 })
      .where(isQueued)
      .where('digest', 'in', (eb) => eb.selectFrom('notify_deliveries as parent').select('parent.seq').where(lost))
      .execute();
    await this.#db.updateTable('notify_deliveries').set({ state: 'queued', owner: null, unclear: 1, attempts: uncountedTry }).where(lost).execute();
  }

  /** Fails all that waits for a channel that was deleted or disabled. */
  async failQueued(channel: number, error: string, now: number, alsoTests: boolean): Promise<void> {
    await this.#db.deleteFrom('notify_deliveries').where('channel_id', '=', channel).where(isQueued).where('kind', '=', 'digest').execute();
    await this.#db
      .updateTable('notify_deliveries')
      .set({ state: 'failed', error, finished_at: now })
      .where('channel_id', '=', channel)
      .where(isQueued)
      .$if(!alsoTests, (query) => query.where('kind', '!=', 'test'))
      .execute();
  }

  /** Deliveries that have ended and whose outcome the consumer has not been given, oldest first. */
  unsentOutcomes(consumer: OutcomeConsumer, limit: number): Promise<Delivery[]> {
    return this.#db.selectFrom('notify_deliveries').selectAll().where(isUnsentTo(consumer)).orderBy('seq').limit(limit).execute();
  }

  async markOutcomesSent(consumer: OutcomeConsumer, seqs: readonly number[]): Promise<void> {
    if (seqs.length > 0) {
      await this.#db
        .updateTable('notify_deliveries')
        .set({ [consumer]: 1 })
        .where('seq', 'in', seqs)
        .execute();
    }
  }
}

const uncountedTry = sql<number>`max(attempts - 1, 0)`;
