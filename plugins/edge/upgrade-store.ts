import type { Insertable, Updateable } from 'kysely';
import type { Page, PageRequest } from 'svc/sdk';

import type { EdgeDb, EdgeTables, UpgradeRow } from './tables.ts';

/** The only statements about upgrades. */
export const upgradeStore = (db: EdgeDb) => ({
  async list(edgeId: number, { limit, after }: PageRequest): Promise<Page<UpgradeRow>> {
    const own = db.selectFrom('edge_upgrades').where('edge_id', '=', edgeId);
    const { total } = await own.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    const found = await own
      .selectAll()
      .$if(after !== undefined, (query) => query.where('job_id', '<', String(after?.[0])))
      // Ids are ordered by time.
      .orderBy('job_id', 'desc')
      .limit(limit + 1)
      .execute();
    const items = found.slice(0, limit);
    return { items, total, next: found.length > limit ? [items.at(-1)!.job_id] : undefined };
  },

  find: (jobId: string): Promise<UpgradeRow | undefined> => db.selectFrom('edge_upgrades').selectAll().where('job_id', '=', jobId).executeTakeFirst(),

  running: (edgeId: number): Promise<UpgradeRow | undefined> =>
    db.selectFrom('edge_upgrades').selectAll().where('edge_id', '=', edgeId).where('ended_at', 'is', null).executeTakeFirst(),

  /** Running ones of which nothing was heard since. */
  silent: (since: number): Promise<UpgradeRow[]> =>
    db.selectFrom('edge_upgrades').selectAll().where('ended_at', 'is', null).where('updated_at', '<', since).execute(),

  insert: (values: Insertable<EdgeTables['edge_upgrades']>): Promise<UpgradeRow> =>
    db.insertInto('edge_upgrades').values(values).returningAll().executeTakeFirstOrThrow(),

  async update(jobId: string, values: Updateable<EdgeTables['edge_upgrades']>): Promise<void> {
    await db.updateTable('edge_upgrades').set(values).where('job_id', '=', jobId).execute();
  },
});
