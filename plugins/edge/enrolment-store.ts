import { type Insertable, sql } from 'kysely';
import type { Page, PageRequest } from 'svc/sdk';

import type { EdgeDb, EdgeTables, EnrolmentRow } from './tables.ts';

/** The only statements about enrolments. */
export const enrolmentStore = (db: EdgeDb) => ({
  async list({ limit, after }: PageRequest): Promise<Page<EnrolmentRow>> {
    const { total } = await db
      .selectFrom('edge_enrolments')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const found = await db
      .selectFrom('edge_enrolments')
      .selectAll()
      .$if(after !== undefined, (query) => query.where('id', '<', Number(after?.[0])))
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute();
    const items = found.slice(0, limit);
    return { items, total, next: found.length > limit ? [items.at(-1)!.id] : undefined };
  },

  find: (id: number): Promise<EnrolmentRow | undefined> => db.selectFrom('edge_enrolments').selectAll().where('id', '=', id).executeTakeFirst(),

  byHash: (hash: string): Promise<EnrolmentRow | undefined> => db.selectFrom('edge_enrolments').selectAll().where('token_hash', '=', hash).executeTakeFirst(),

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
    db.updateTable('edge_enrolments').set({ revoked_at: now }).where('id', '=', id).returningAll().executeTakeFirstOrThrow(),

  /** Those that ended before. */
  async purge(before: number): Promise<void> {
    await db.deleteFrom('edge_enrolments').where('expires_at', '<', before).execute();
  },
});
