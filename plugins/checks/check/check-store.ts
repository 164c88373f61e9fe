import type { Generated, Insertable, Selectable, Updateable } from 'kysely';
import type { Tables } from 'svc/sdk';

export interface CheckTables {
  checks_checks: {
    id: Generated<number>;
    name: string;
    definition: string;
    secrets: string | null;
    paused: Generated<number>;
    state: Generated<string>;
    state_since: number;
    cause: string | null;
    created_at: number;
    updated_at: number;
  };
  checks_changes: {
    id: Generated<number>;
    check_id: number;
    at: number;
    state: string;
    cause: string | null;
    places: string;
  };
  checks_uptime: {
    check_id: number;
    span: 'hour' | 'day';
    begins_at: number;
    up_ms: number;
    down_ms: number;
    stale_ms: number;
    maintenance_ms: Generated<number>;
  };
  checks_dismissals: {
    id: string;
    at: number;
  };
  checks_pictures: {
    check_id: number;
    at: number;
    place: string;
    picture: string;
  };
  checks_objectives: {
    id: Generated<number>;
    name: string;
    check_name: string | null;
    group_name: string | null;
    target: number;
    days: number;
    created_at: number;
    updated_at: number;
  };
}

export type CheckRow = Selectable<CheckTables['checks_checks']>;
export type ChangeRow = Selectable<CheckTables['checks_changes']>;

/** Changes that are kept of each check. */
export const keptChanges = 1_000;

/** SQL of checks and of the changes of their verdicts. */
export const checkStore = (db: Tables<CheckTables>['read']) => ({
  all: (): Promise<CheckRow[]> =>
    db.selectFrom('checks_checks').selectAll().orderBy('id').execute(),

  find: (name: string): Promise<CheckRow | undefined> =>
    db.selectFrom('checks_checks').selectAll().where('name', '=', name).executeTakeFirst(),

  count: async (): Promise<number> => {
    const { count } = await db
      .selectFrom('checks_checks')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  },

  insert: (row: Insertable<CheckTables['checks_checks']>): Promise<CheckRow> =>
    db.insertInto('checks_checks').values(row).returningAll().executeTakeFirstOrThrow(),

  update: (id: number, change: Updateable<CheckTables['checks_checks']>): Promise<CheckRow> =>
    db
      .updateTable('checks_checks')
      .set(change)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  remove: (id: number) => db.deleteFrom('checks_checks').where('id', '=', id).execute(),

  changesOf: (checkId: number, after: number, limit: number): Promise<ChangeRow[]> =>
    db
      .selectFrom('checks_changes')
      .selectAll()
      .where('check_id', '=', checkId)
      .where('at', '>=', after)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),

  addChange: async (row: Insertable<CheckTables['checks_changes']>): Promise<void> => {
    await db.insertInto('checks_changes').values(row).execute();
    await db
      .deleteFrom('checks_changes')
      .where('check_id', '=', row.check_id)
      .where(
        'id',
        '<=',
        db
          .selectFrom('checks_changes')
          .select('id')
          .where('check_id', '=', row.check_id)
          .orderBy('id', 'desc')
          .limit(1)
          .offset(keptChanges),
      )
      .execute();
  },
});
