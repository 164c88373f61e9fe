import { type Insertable, type Selectable, sql } from 'kysely';

import type { Iam, IamTables } from './tables.ts';

const columns = ['name', 'description', 'grants', 'created_at', 'updated_at'] as const;
type Stored = Pick<Selectable<IamTables['iam_roles']>, (typeof columns)[number]>;

export interface RoleRow extends Omit<Stored, 'grants'> {
  readonly grants: readonly string[];
}

/** Custom roles, common to all of svc: whoever may read roles sees all of them. */
export class RoleStore {
  readonly #db: Iam;

  constructor(db: Iam) {
    this.#db = db;
  }

  async all(): Promise<readonly RoleRow[]> {
    return (await this.#db.selectFrom('iam_roles').select(columns).orderBy('name').execute()).map(
      opened,
    );
  }

  async find(name: string): Promise<RoleRow | undefined> {
    const found = await this.#db
      .selectFrom('iam_roles')
      .select(columns)
      .where('name', '=', name)
      .executeTakeFirst();
    return found && opened(found);
  }

  async insert(
    role: Omit<Insertable<IamTables['iam_roles']>, 'grants'> & {
      readonly grants: readonly string[];
    },
  ): Promise<RoleRow> {
    const values = { ...role, grants: JSON.stringify(role.grants) };
    return opened(
      await this.#db
        .insertInto('iam_roles')
        .values(values)
        .returning(columns)
        .executeTakeFirstOrThrow(),
    );
  }

  async update(
    name: string,
    { description, grants }: { readonly description?: string; readonly grants?: readonly string[] },
    now: number,
  ): Promise<RoleRow> {
    const changed = this.#db
      .updateTable('iam_roles')
      .set({
        ...(description !== undefined && { description }),
        ...(grants !== undefined && { grants: JSON.stringify(grants) }),
        updated_at: sql<number>`max(${now}, updated_at + 1)`,
      })
      .where('name', '=', name)
      .returning(columns);
    return opened(await changed.executeTakeFirstOrThrow());
  }

  remove(name: string) {
    return this.#db.deleteFrom('iam_roles').where('name', '=', name).execute();
  }

  async count(): Promise<number> {
    return (
      await this.#db
        .selectFrom('iam_roles')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
    ).total;
  }
}

const opened = ({ grants, ...role }: Stored): RoleRow => ({
  ...role,
  grants: JSON.parse(grants) as string[],
});
