import type { Insertable, Updateable } from 'kysely';
import type { Tables } from 'svc/sdk';

import type { CheckTables } from '../check/check-store.ts';
import type { Objective } from './objective.ts';

type Row = CheckTables['checks_objectives'];

/** SQL of objectives. */
export const objectiveStore = (db: Tables<CheckTables>['read']) => ({
  all: (): Promise<Objective[]> =>
    db.selectFrom('checks_objectives').selectAll().orderBy('id').execute(),

  find: (name: string): Promise<Objective | undefined> =>
    db.selectFrom('checks_objectives').selectAll().where('name', '=', name).executeTakeFirst(),

  insert: (row: Insertable<Row>): Promise<Objective> =>
    db.insertInto('checks_objectives').values(row).returningAll().executeTakeFirstOrThrow(),

  update: (id: number, change: Updateable<Row>): Promise<Objective> =>
    db
      .updateTable('checks_objectives')
      .set(change)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  remove: (id: number) => db.deleteFrom('checks_objectives').where('id', '=', id).execute(),
});
