import type { Insertable, Updateable } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { EdgeDb, EdgeTables, UpgradeRow } from '../record/tables.ts';

/** The only statements about upgrades. */
export const upgradeStore = (db: EdgeDb) => ({
  /** Ids are ordered by time. */
  list: (edgeId: number, page: PageRequest): Promise<Page<UpgradeRow>> =>
    pageOf(
      db.selectFrom('edge_upgrades').selectAll().where('edge_id', '=', edgeId),
      'job_id',
      page,
    ),

  find: (jobId: string): Promise<UpgradeRow | undefined> =>
    db.selectFrom('edge_upgrades').selectAll().where('job_id', '=', jobId).executeTakeFirst(),

  running: (edgeId: number): Promise<UpgradeRow | undefined> =>
    db
      .selectFrom('edge_upgrades')
      .selectAll()
      .where('edge_id', '=', edgeId)
      .where('ended_at', 'is', null)
      .executeTakeFirst(),

  /** Returns running upgrades without any report since then. */
  silent: (since: number): Promise<UpgradeRow[]> =>
    db
      .selectFrom('edge_upgrades')
      .selectAll()
      .where('ended_at', 'is', null)
      .where('updated_at', '<', since)
      .execute(),

  insert: (values: Insertable<EdgeTables['edge_upgrades']>): Promise<UpgradeRow> =>
    db.insertInto('edge_upgrades').values(values).returningAll().executeTakeFirstOrThrow(),

  async update(jobId: string, values: Updateable<EdgeTables['edge_upgrades']>): Promise<void> {
    await db.updateTable('edge_upgrades').set(values).where('job_id', '=', jobId).execute();
  },
});
