import type { Generated, Insertable, Selectable, Updateable } from 'kysely';
import type { Severity } from 'svc/contracts/notify';
import { type Page, pageOf, type PageRequest, type Tables } from 'svc/sdk';

export interface SourceTables {
  alert_sources_peers: {
    id: Generated<number>;
    key: string;
    token_digest: string;
    signing_secret: string | null;
    dimensions: string;
    default_severity: Severity;
    unheard_ms: number;
    enabled: number;
    created_at: number;
    updated_at: number;
  };
}

export type SourceRow = Selectable<SourceTables['alert_sources_peers']>;
export type SourceDb = Tables<SourceTables>['read'];

/** All SQL of sources. */
export const sourceStore = (db: SourceDb) => ({
  list: (page: PageRequest): Promise<Page<SourceRow>> =>
    pageOf(db.selectFrom('alert_sources_peers').selectAll(), 'id', page),

  all: (): Promise<SourceRow[]> =>
    db.selectFrom('alert_sources_peers').selectAll().orderBy('id').execute(),

  find: (id: number): Promise<SourceRow | undefined> =>
    db.selectFrom('alert_sources_peers').selectAll().where('id', '=', id).executeTakeFirst(),

  byDigest: (digest: string): Promise<SourceRow | undefined> =>
    db
      .selectFrom('alert_sources_peers')
      .selectAll()
      .where('token_digest', '=', digest)
      .executeTakeFirst(),

  byKey: (key: string): Promise<SourceRow | undefined> =>
    db.selectFrom('alert_sources_peers').selectAll().where('key', '=', key).executeTakeFirst(),

  insert: (row: Insertable<SourceTables['alert_sources_peers']>): Promise<SourceRow> =>
    db.insertInto('alert_sources_peers').values(row).returningAll().executeTakeFirstOrThrow(),

  update: (
    id: number,
    change: Updateable<SourceTables['alert_sources_peers']>,
  ): Promise<SourceRow> =>
    db
      .updateTable('alert_sources_peers')
      .set(change)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  remove: (id: number) => db.deleteFrom('alert_sources_peers').where('id', '=', id).execute(),
});
