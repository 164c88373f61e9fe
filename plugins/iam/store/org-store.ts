import {
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  sql,
  type SqlBool,
  type Updateable,
} from 'kysely';
import { type Page, pageOf, type PageRequest, type Principal } from 'svc/sdk';

import type { Iam, IamTables } from './tables.ts';

const columns = [
  'id',
  'name',
  'description',
  'parent_id',
  'device_selector',
  'created_at',
  'updated_at',
] as const;

export type OrgRow = Pick<Selectable<IamTables['iam_orgs']>, (typeof columns)[number]>;

/** The organization that every new account joins. */
export const defaultOrg = 1;

const isSeen = (actor: Principal, id: number): boolean =>
  actor.orgs === undefined || actor.orgs.includes(id);

const seenBy = (actor: Principal) => (eb: ExpressionBuilder<IamTables, 'iam_orgs'>) =>
  actor.orgs === undefined ? eb.lit(true) : eb('id', 'in', [...actor.orgs]);

/** Organizations on behalf of an actor, who sees those they belong to. */
export class OrgStore {
  readonly #db: Iam;

  constructor(db: Iam) {
    this.#db = db;
  }

  async list(actor: Principal, q: string | undefined, page: PageRequest): Promise<Page<OrgRow>> {
    const filtered = this.#db
      .selectFrom('iam_orgs')
      .select(columns)
      .where(seenBy(actor))
      .$if(q !== undefined, (query) =>
        query.where(sql<SqlBool>`instr(name_key, ${nameKey(q ?? '')}) > 0`),
      );
    const { items, ...rest } = await pageOf(filtered, 'id', page);
    return { ...rest, items: items.map((row) => withSeenParent(actor, row)) };
  }

  async find(actor: Principal, id: number): Promise<OrgRow | undefined> {
    const found = await this.#db
      .selectFrom('iam_orgs')
      .select(columns)
      .where(seenBy(actor))
      .where('id', '=', id)
      .executeTakeFirst();
    return found && withSeenParent(actor, found);
  }

  insert(org: Insertable<IamTables['iam_orgs']>): Promise<OrgRow> {
    return this.#db.insertInto('iam_orgs').values(org).returning(columns).executeTakeFirstOrThrow();
  }

  update(
    actor: Principal,
    id: number,
    changes: Updateable<IamTables['iam_orgs']>,
    now: number,
  ): Promise<OrgRow> {
    return this.#db
      .updateTable('iam_orgs')
      .set({ ...changes, updated_at: sql<number>`max(${now}, updated_at + 1)` })
      .where(seenBy(actor))
      .where('id', '=', id)
      .returning(columns)
      .executeTakeFirstOrThrow();
  }

  remove(actor: Principal, id: number) {
    return this.#db.deleteFrom('iam_orgs').where(seenBy(actor)).where('id', '=', id).execute();
  }

  async isNameFree(name: string, exceptId = 0): Promise<boolean> {
    const taken = await this.#db
      .selectFrom('iam_orgs')
      .select('id')
      .where('name_key', '=', nameKey(name))
      .where('id', '!=', exceptId)
      .executeTakeFirst();
    return taken === undefined;
  }

  async count(): Promise<number> {
    return (
      await this.#db
        .selectFrom('iam_orgs')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
    ).total;
  }

  async hasChildren(id: number): Promise<boolean> {
    return (
      (await this.#db
        .selectFrom('iam_orgs')
        .select('id')
        .where('parent_id', '=', id)
        .limit(1)
        .executeTakeFirst()) !== undefined
    );
  }

  /** `id` and everything above it. */
  async lineOf(id: number): Promise<readonly number[]> {
    const line = await this.#db
      .withRecursive('line(id, parent_id)', (cte) =>
        cte
          .selectFrom('iam_orgs')
          .select(['id', 'parent_id'])
          .where('id', '=', id)
          .union((eb) =>
            eb
              .selectFrom('iam_orgs')
              .innerJoin('line', 'line.parent_id', 'iam_orgs.id')
              .select(['iam_orgs.id', 'iam_orgs.parent_id']),
          ),
      )
      .selectFrom('line')
      .select('id')
      .execute();
    return line.map((org) => org.id);
  }
}

/** Two names that differ in case or in the way their letters are encoded are one. */
export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

const withSeenParent = (actor: Principal, row: OrgRow): OrgRow =>
  row.parent_id === null || isSeen(actor, row.parent_id) ? row : { ...row, parent_id: null };
