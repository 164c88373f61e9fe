import { type Insertable, sql } from 'kysely';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { EdgeDb, EdgeTables, EnrolmentRow } from '../record/tables.ts';

/** The only statements about enrolments. */
export const enrolmentStore = (db: EdgeDb) => ({
  list: (page: PageRequest): Promise<Page<EnrolmentRow>> =>
    pageOf(db.selectFrom('edge_enrolments').selectAll(), 'id', page),

  find: (id: number): Promise<EnrolmentRow | undefined> =>
    db.selectFrom('edge_enrolments').selectAll().where('id', '=', id).executeTakeFirst(),

  byHash: (hash: string): Promise<EnrolmentRow | undefined> =>
    db.selectFrom('edge_enrolments').selectAll().where('token_hash', '=', hash).executeTakeFirst(),

  insert: (values: Insertable<EdgeTables['edge_enrolments']>): Promise<EnrolmentRow> =>
    db.insertInto('edge_enrolments').values(values).returningAll().executeTakeFirstOrThrow(),

  async spend(id: number): Promise<void> {
    await db
      .updateTable('edge_enrolments')
      .set({ uses: sql<number>`uses + 1` })
      .where('id', '=', id)
      .execute();
  },

  revoke: (id: number, now: number): Promise<EnrolmentRow> =>
    db
      .updateTable('edge_enrolments')
      .set({ revoked_at: now })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  /** Deletes enrolments that expired before then. */
  async purge(before: number): Promise<void> {
    await db.deleteFrom('edge_enrolments').where('expires_at', '<', before).execute();
  },
});
