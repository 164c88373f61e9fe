import { type Insertable, sql } from 'kysely';

import type { Notice } from './contract.ts';
import type { Delivery, Notify, NotifyTables } from './tables.ts';

export type NewDelivery = Insertable<NotifyTables['notify_deliveries']>;

/** In words that the partial index is made with. */
const queued = sql<boolean>`state = 'queued' and state in ('queued', 'sending')`;

/** Not on its way inside a digest. */
const atRest = sql<boolean>`(digest is null or (select parent.state from notify_deliveries parent where parent.seq = notify_deliveries.digest) = 'queued')`;

/** What somebody else was sending: of another process, or of any generation but this one. */
const lostTo = (mine: string, ofProcess: string, all: boolean) => {
  const others = all ? sql<boolean>`owner <> ${mine}` : sql<boolean>`owner not like ${`${ofProcess}/%`}`;
  return sql<boolean>`state in ('queued', 'sending') and state = 'sending' and ${others}`;
};

export const deliveryStore = (db: Notify) => ({
  /** False when the notice was accepted before. */
  async addNotice(notice: Notice, now: number): Promise<boolean> {
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('notify_notices')
      .values({ id: notice.id, incident_id: notice.incident.id, fire_seq: notice.fire_seq, kind: notice.kind, body: JSON.stringify(notice), accepted_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows > 0n;
  },

  async add(deliveries: readonly NewDelivery[]): Promise<void> {
    if (deliveries.length > 0) {
      await db.insertInto('notify_deliveries').values(deliveries).execute();
    }
  },

  /** Channels that got the firing, may have got it, or still wait for it. */
  async heardFiring(incident: number, fireSeq: number): Promise<ReadonlySet<number>> {
    const rows = await db
      .selectFrom('notify_deliveries')
      .select('channel_id')
      .where('incident_id', '=', incident)
      .where('fire_seq', '=', fireSeq)
      .where('kind', '=', 'firing')
      .where(sql<boolean>`(got = 1 or unclear = 1 or state in ('queued', 'sending'))`)
      .execute();
    return new Set(rows.map(({ channel_id }) => channel_id));
  },

  /**
   * What a resolve has made idle: the firing and its reminders that are still unsent, and then the resolve itself where
   * the channel never heard of the firing. For one channel, or for one firing of an incident.
   */
  async foldPairs(where: { readonly channel: number } | { readonly incident: number; readonly fireSeq: number }, now: number): Promise<void> {
    const end = { state: 'folded' as const, finished_at: now };
    const of = 'channel' in where ? sql<boolean>`channel_id = ${where.channel}` : sql<boolean>`incident_id = ${where.incident} and fire_seq = ${where.fireSeq}`;
    await db
      .updateTable('notify_deliveries')
      .set(end)
      .where(of)
      .where(queued)
      .where('kind', 'in', ['firing', 'reminder'])
      .where(atRest)
      .where(
        sql<boolean>`exists (select 1 from notify_notices n where n.incident_id = notify_deliveries.incident_id and n.fire_seq = notify_deliveries.fire_seq and n.kind = 'resolved')`,
      )
      .execute();
    await db
      .updateTable('notify_deliveries')
      .set(end)
      .where(of)
      .where(queued)
      .where('kind', '=', 'resolved')
      .where(atRest)
      .where(
        sql<boolean>`not exists (select 1 from notify_deliveries f where f.incident_id = notify_deliveries.incident_id and f.fire_seq = notify_deliveries.fire_seq and f.channel_id = notify_deliveries.channel_id and f.kind = 'firing' and (f.got = 1 or f.unclear = 1 or f.state in ('queued', 'sending')))`,
      )
      .execute();
  },

  /** Channels with something to send. */
  async waiting(): Promise<readonly number[]> {
    const rows = await db.selectFrom('notify_deliveries').select('channel_id').distinct().where(queued).execute();
    return rows.map(({ channel_id }) => channel_id);
  },

  /** The oldest that go by themselves. */
  free: (channel: number, limit: number): Promise<Delivery[]> =>
    db
      .selectFrom('notify_deliveries')
      .selectAll()
      .where('channel_id', '=', channel)
      .where(queued)
      .where('digest', 'is', null)
      .where('kind', 'not in', ['digest', 'test'])
      .orderBy('seq')
      .limit(limit)
      .execute(),

  oldest: (channel: number, kind: 'digest' | 'test'): Promise<Delivery | undefined> =>
    db
      .selectFrom('notify_deliveries')
      .selectAll()
      .where('channel_id', '=', channel)
      .where(queued)
      .where('kind', '=', kind)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst(),

  /** Puts everything that waits into the digest; how many it then holds. */
  async absorb(digest: Delivery): Promise<number> {
    await db
      .updateTable('notify_deliveries')
      .set({ digest: digest.seq })
      .where('channel_id', '=', digest.channel_id)
      .where(queued)
      .where('digest', 'is', null)
      .where('kind', 'not in', ['digest', 'test'])
      .execute();
    const { total } = await db
      .selectFrom('notify_deliveries')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('digest', '=', digest.seq)
      .where('state', '=', 'queued')
      .executeTakeFirstOrThrow();
    return total;
  },

  async remove(seq: number): Promise<void> {
    await db.deleteFrom('notify_deliveries').where('seq', '=', seq).execute();
  },

  find: (id: string): Promise<Delivery | undefined> => db.selectFrom('notify_deliveries').selectAll().where('id', '=', id).executeTakeFirst(),

  async take(seq: number, owner: string): Promise<Delivery> {
    return await db
      .updateTable('notify_deliveries')
      .set({ state: 'sending', owner, attempts: sql<number>`attempts + 1` })
      .where('seq', '=', seq)
      .returningAll()
      .executeTakeFirstOrThrow();
  },

  notice: async (id: string): Promise<Notice> => {
    const { body } = await db.selectFrom('notify_notices').select('body').where('id', '=', id).executeTakeFirstOrThrow();
    return JSON.parse(body) as Notice;
  },

  /** What a digest holds, worst first. */
  async members(digest: number, limit: number): Promise<{ readonly notices: readonly Notice[]; readonly counts: Readonly<Record<Notice['kind'], number>> }> {
    const held = db.selectFrom('notify_deliveries').where('digest', '=', digest).where('notify_deliveries.state', '=', 'queued');
    const rows = await held
      .innerJoin('notify_notices', 'notify_notices.id', 'notify_deliveries.notice_id')
      .select('notify_notices.body')
      .orderBy('notify_deliveries.severity', 'desc')
      .orderBy('notify_deliveries.seq')
      .limit(limit)
      .execute();
    const kinds = await held
      .select(['kind', (eb) => eb.fn.countAll<number>().as('total')])
      .groupBy('kind')
      .execute();
    const countOf = (kind: Notice['kind']): number => kinds.find((row) => row.kind === kind)?.total ?? 0;
    return {
      notices: rows.map(({ body }) => JSON.parse(body) as Notice),
      counts: { firing: countOf('firing'), reminder: countOf('reminder'), resolved: countOf('resolved') },
    };
  },

  /** The end of one, and of all that went with it. */
  async finish(row: Delivery, end: { readonly sent: boolean; readonly error: string | null; readonly unclear: boolean }, now: number): Promise<void> {
    const { sent, error, unclear } = end;
    const got = sent ? 1 : 0;
    const trace = { got, finished_at: now, error, ...(unclear && { unclear: 1 }) };
    await db
      .updateTable('notify_deliveries')
      .set({ ...trace, state: sent ? 'sent' : 'failed', owner: null })
      .where('seq', '=', row.seq)
      .execute();
    if (row.kind === 'digest') {
      await db
        .updateTable('notify_deliveries')
        .set({ ...trace, state: sent ? 'folded' : 'failed' })
        .where('digest', '=', row.seq)
        .where(queued)
        .execute();
    }
  },

  async putBack(
    row: Delivery,
    again: { readonly due_at: number; readonly wait_ms: number; readonly error: string | null; readonly unclear: boolean; readonly uncounted: boolean },
  ): Promise<void> {
    const { unclear, uncounted, ...rest } = again;
    await db
      .updateTable('notify_deliveries')
      .set({ ...rest, state: 'queued', owner: null, ...(unclear && { unclear: 1 }), ...(uncounted && { attempts: sql<number>`max(attempts - 1, 0)` }) })
      .where('seq', '=', row.seq)
      .execute();
    if (unclear && row.kind === 'digest') {
      await db.updateTable('notify_deliveries').set({ unclear: 1 }).where('digest', '=', row.seq).where(queued).execute();
    }
  },

  /** Takes back what nobody is sending any more; a try that nobody saw the end of does not count. */
  async recover(mine: string, ofProcess: string, all: boolean): Promise<void> {
    const lost = lostTo(mine, ofProcess, all);
    await db
      .updateTable('notify_deliveries')
      .set({ unclear: 1 })
      .where(queued)
      .where('digest', 'in', (eb) => eb.selectFrom('notify_deliveries as parent').select('parent.seq').where(lost))
      .execute();
    await db
      .updateTable('notify_deliveries')
      .set({ state: 'queued', owner: null, unclear: 1, attempts: sql<number>`max(attempts - 1, 0)` })
      .where(lost)
      .execute();
  },

  /** Whether there is anything to take back. */
  async hasLost(mine: string, ofProcess: string, all: boolean): Promise<boolean> {
    return (
      (await db
        .selectFrom('notify_deliveries')
        .select('seq')
        .where(lostTo(mine, ofProcess, all))
        .limit(1)
        .executeTakeFirst()) !== undefined
    );
  },

  /** The channel takes nothing any more. */
  async failAll(channel: number, error: string, now: number, alsoTests: boolean): Promise<void> {
    await db.deleteFrom('notify_deliveries').where('channel_id', '=', channel).where(queued).where('kind', '=', 'digest').execute();
    await db
      .updateTable('notify_deliveries')
      .set({ state: 'failed', error, finished_at: now })
      .where('channel_id', '=', channel)
      .where(queued)
      .$if(!alsoTests, (query) => query.where('kind', '!=', 'test'))
      .execute();
  },

  /** Ended, and not told yet. */
  untold: (what: 'recorded' | 'announced', limit: number): Promise<Delivery[]> =>
    db
      .selectFrom('notify_deliveries')
      .selectAll()
      .where(sql<boolean>`finished_at is not null and ${sql.ref(what)} = 0`)
      .orderBy('seq')
      .limit(limit)
      .execute(),

  async told(seqs: readonly number[], what: 'recorded' | 'announced'): Promise<void> {
    if (seqs.length > 0) {
      await db
        .updateTable('notify_deliveries')
        .set({ [what]: 1 })
        .where('seq', 'in', seqs)
        .execute();
    }
  },
});
