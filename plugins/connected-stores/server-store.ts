import type { Generated, Insertable, Selectable, Updateable } from 'kysely';
import { type Page, pageOf, type PageRequest, type Tables } from 'svc/sdk';

export interface ServerTables {
  connected_stores_servers: {
    id: Generated<number>;
    name: string;
    url: string;
    credentials: string | null;
    host_rules: string;
    copied: string;
    history: string | null;
    created_at: number;
    updated_at: number;
  };
}

export type ServerRow = Selectable<ServerTables['connected_stores_servers']>;

/** All SQL of connected stores. */
export const serverStore = (db: Tables<ServerTables>['read']) => ({
  list: (page: PageRequest): Promise<Page<ServerRow>> =>
    pageOf(db.selectFrom('connected_stores_servers').selectAll(), 'id', page),

  all: (): Promise<ServerRow[]> =>
    db.selectFrom('connected_stores_servers').selectAll().orderBy('id').execute(),

  find: (name: string): Promise<ServerRow | undefined> =>
    db
      .selectFrom('connected_stores_servers')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst(),

  insert: (row: Insertable<ServerTables['connected_stores_servers']>): Promise<ServerRow> =>
    db.insertInto('connected_stores_servers').values(row).returningAll().executeTakeFirstOrThrow(),

  update: (
    id: number,
    change: Updateable<ServerTables['connected_stores_servers']>,
  ): Promise<ServerRow> =>
    db
      .updateTable('connected_stores_servers')
      .set(change)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  setHistory: (id: number, history: string) =>
    db.updateTable('connected_stores_servers').set({ history }).where('id', '=', id).execute(),

  remove: (id: number) => db.deleteFrom('connected_stores_servers').where('id', '=', id).execute(),
});
