import type { Kysely, Selectable } from 'kysely';

export interface PersonaTables {
  persona_own: {
    name: string;
    header: string;
    body: string;
    created_at: number;
    updated_at: number;
  };
  persona_versions: { name: string; digest: string; version: number };
}

export type OwnRow = Selectable<PersonaTables['persona_own']>;
export type VersionRow = Selectable<PersonaTables['persona_versions']>;

/** The only SQL of personas. */
export const personaStore = (db: Kysely<PersonaTables>) => ({
  own: (): Promise<OwnRow[]> => db.selectFrom('persona_own').selectAll().execute(),

  find: (name: string): Promise<OwnRow | undefined> =>
    db.selectFrom('persona_own').selectAll().where('name', '=', name).executeTakeFirst(),

  async put(row: OwnRow): Promise<void> {
    await db
      .insertInto('persona_own')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
  },

  async remove(name: string): Promise<void> {
    await db.deleteFrom('persona_own').where('name', '=', name).execute();
  },

  versions: (): Promise<VersionRow[]> => db.selectFrom('persona_versions').selectAll().execute(),

  async forget(names: readonly string[]): Promise<void> {
    await db.deleteFrom('persona_versions').where('name', 'in', names).execute();
  },

  async keep(row: VersionRow): Promise<void> {
    await db
      .insertInto('persona_versions')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
  },
});
