import { sql } from 'kysely';

import { isQueued } from './delivery-conditions.ts';
import type { NewDelivery } from './new-delivery.ts';
import type { Delivery, Notify } from './tables.ts';

/** Waiting deliveries of one group. */
export interface WaitingGroup {
  readonly key: string;
  readonly total: number;
  readonly isOfOneIncident: boolean;
  /** Number of those that arrived in the last moments. */
  readonly fresh: number;
  readonly next: Delivery;
}

interface Counted extends Pick<WaitingGroup, 'total' | 'fresh'> {
  readonly least: number;
  readonly greatest: number;
}

/** Deliveries that wait for a channel: groups, the digests that include them, and tests. */
export class WaitingDeliveries {
  readonly #db: Notify;

  constructor(db: Notify) {
    this.#db = db;
  }

  /** Groups with deliveries that are in no digest: how many, and the one that is due first. */
  async waitingGroups(
    channel: number,
    { since, until }: { readonly since: number; readonly until: number },
  ): Promise<readonly WaitingGroup[]> {
    const { rows } = await sql<Delivery & Counted>`
      with waiting as materialized (
        select seq, group_key, due_at, incident_id, accepted_at from notify_deliveries
        where channel_id = ${channel} and ${isQueued} and digest is null and kind not in ('digest', 'test')
      ), groups as (
        select group_key, min(due_at) as earliest, count(*) as total, min(incident_id) as least, max(incident_id) as greatest,
          count(*) filter (where accepted_at between ${since} and ${until}) as fresh
        from waiting group by group_key
      ), firsts as (
        select groups.group_key as of_group, min(waiting.seq) as first from groups join waiting on waiting.group_key = groups.group_key and waiting.due_at = groups.earliest
        group by groups.group_key
      )
      select d.*, groups.total, groups.least, groups.greatest, groups.fresh
      from groups join firsts on firsts.of_group = groups.group_key join notify_deliveries d on d.seq = firsts.first
      order by groups.earliest, d.seq`.execute(this.#db);
    return rows.map(({ total, least, greatest, fresh, ...next }) => ({
      key: next.group_key,
      next,
      total,
      isOfOneIncident: least === greatest,
      fresh,
    }));
  }

  /** Returns the oldest delivery of a group that is in no digest. */
  async oldestOf(channel: number, group: string): Promise<Delivery> {
    return await this.#queued(channel)
      .where('digest', 'is', null)
      .where('kind', 'not in', ['digest', 'test'])
      .where('group_key', '=', group)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirstOrThrow();
  }

  /** Puts those that say of one firing who has joined it since into the newest of them, which says all of it and counts their tries; that one. */
  async gatherJoined({
    seq,
    attempts,
    channel_id: channel,
    incident_id: incident,
    fire_seq: fire,
  }: Delivery): Promise<number> {
    const alike = this.#queued(channel)
      .where('kind', '=', 'firing')
      .where('incident_id', '=', incident)
      .where('fire_seq', '=', fire);
    const newest = await alike.orderBy('seq', 'desc').limit(1).executeTakeFirstOrThrow();
    if (newest.seq === seq) {
      return seq;
    }
    await sql`
      update notify_deliveries set digest = ${newest.seq}
      where ${isQueued} and channel_id = ${channel} and kind = 'firing' and incident_id = ${incident} and fire_seq = ${fire} and seq != ${newest.seq}
    `.execute(this.#db);
    await this.#db
      .updateTable('notify_deliveries')
      .set({ attempts })
      .where('seq', '=', newest.seq)
      .execute();
    return newest.seq;
  }

  /** Digests that wait for another try. */
  openDigests(channel: number): Promise<Delivery[]> {
    return this.#queued(channel).where('kind', '=', 'digest').orderBy('seq').execute();
  }

  /** Tests before words, which may wait for another try. */
  oldestTest(channel: number): Promise<Delivery | undefined> {
    return this.#queued(channel)
      .where('kind', '=', 'test')
      .orderBy('group_key')
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
  }

  #queued(channel: number) {
    return this.#db
      .selectFrom('notify_deliveries')
      .selectAll()
      .where('channel_id', '=', channel)
      .where(isQueued);
  }

  async openDigest(row: NewDelivery): Promise<Delivery> {
    return await this.#db
      .insertInto('notify_deliveries')
      .values(row)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** Puts everything that waits of these groups into the digest, also what is in a smaller one; how many it then holds. */
  async fillDigest(digest: Delivery, groups: readonly string[]): Promise<number> {
    const ofGroups = sql<boolean>`group_key in (select value from json_each(${JSON.stringify(groups)}))`;
    await this.#db
      .updateTable('notify_deliveries')
      .set({ digest: digest.seq })
      .where('channel_id', '=', digest.channel_id)
      .where(isQueued)
      .where(ofGroups)
      .where('kind', 'not in', ['digest', 'test'])
      .execute();
    await this.#db
      .deleteFrom('notify_deliveries')
      .where('channel_id', '=', digest.channel_id)
      .where(isQueued)
      .where(ofGroups)
      .where('kind', '=', 'digest')
      .where('seq', '!=', digest.seq)
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
}
