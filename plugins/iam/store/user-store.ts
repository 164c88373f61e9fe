import {
  type Expression,
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
  'email',
  'display_name',
  'role',
  'status',
  'version',
  'created_at',
  'updated_at',
  'last_login_at',
] as const;

/** An account as the domain knows it. The hash is not part of it, so that no reply and no audit row can show it. */
export type UserRow = Pick<Selectable<IamTables['iam_users']>, (typeof columns)[number]>;

export interface UserFilter {
  readonly q?: string;
  readonly role?: string;
  readonly status?: string;
  readonly org_id?: number;
}

type Where = (eb: ExpressionBuilder<IamTables, 'iam_users'>) => Expression<SqlBool>;

/** The accounts that `actor` may know of: all, or those in one of their organizations and their own. Deleted ones are not there. */
export const seenBy =
  (actor: Principal): Where =>
  (eb) => {
    const there = eb('deleted_at', 'is', null);
    if (actor.orgs === undefined) {
      return there;
    }
    const sharesOne = eb.exists(
      eb
        .selectFrom('iam_members')
        .select('user_id')
        .whereRef('iam_members.user_id', '=', 'iam_users.id')
        .where('org_id', 'in', [...actor.orgs]),
    );
    return there.and(eb.or([sharesOne, eb('iam_users.id', '=', userIdOf(actor) ?? 0)]));
  };

/** The account that a principal acts for, in person or by an API token; the operator and plugins have none. */
export const userIdOf = ({ kind, id }: Principal): number | undefined =>
  kind === 'user' || kind === 'token' ? Number(id) : undefined;

/** Accounts on behalf of an actor. */
export class UserStore {
  readonly #db: Iam;

  constructor(db: Iam) {
    this.#db = db;
  }

  list(actor: Principal, filter: UserFilter, page: PageRequest): Promise<Page<UserRow>> {
    return pageOf(
      this.#db
        .selectFrom('iam_users')
        .select(columns)
        .where(seenBy(actor))
        .where(fits(filter, actor)),
      'id',
      page,
    );
  }

  find(actor: Principal, id: number): Promise<UserRow | undefined> {
    return this.#db
      .selectFrom('iam_users')
      .select(columns)
      .where(seenBy(actor))
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Returns the hash for changing the password; it is compared and replaced, never shown. */
  async hashOf(actor: Principal, id: number): Promise<string | undefined> {
    const found = await this.#db
      .selectFrom('iam_users')
      .select('password_hash')
      .where(seenBy(actor))
      .where('id', '=', id)
      .executeTakeFirst();
    return found?.password_hash;
  }

  insert(user: Insertable<IamTables['iam_users']>): Promise<UserRow> {
    return this.#db
      .insertInto('iam_users')
      .values(user)
      .returning(columns)
      .executeTakeFirstOrThrow();
  }

  /** `updated_at` grows with each change, also within a millisecond: it is the version that If-Match compares. */
  update(
    actor: Principal,
    id: number,
    changes: Updateable<IamTables['iam_users']>,
    now: number,
  ): Promise<UserRow> {
    return this.#db
      .updateTable('iam_users')
      .set({ ...changes, updated_at: sql<number>`max(${now}, updated_at + 1)` })
      .where(seenBy(actor))
      .where('id', '=', id)
      .returning(columns)
      .executeTakeFirstOrThrow();
  }

  async isFree(email: string, exceptId = 0): Promise<boolean> {
    const taken = await this.#db
      .selectFrom('iam_users')
      .select('id')
      .where('email', '=', email)
      .where('deleted_at', 'is', null)
      .where('id', '!=', exceptId)
      .executeTakeFirst();
    return taken === undefined;
  }

  async count(): Promise<number> {
    const { total } = await this.#db
      .selectFrom('iam_users')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow();
    return total;
  }

  async hasActiveAdmin(): Promise<boolean> {
    const admin = this.#db
      .selectFrom('iam_users')
      .select('id')
      .where('role', '=', 'admin')
      .where('status', '=', 'active')
      .where('deleted_at', 'is', null);
    return (await admin.limit(1).executeTakeFirst()) !== undefined;
  }

  async holdersOf(role: string): Promise<number> {
    const holders = this.#db
      .selectFrom('iam_users')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where('role', '=', role)
      .where('deleted_at', 'is', null);
    return (await holders.executeTakeFirstOrThrow()).total;
  }
}

/** An organization that the actor does not belong to has no members as far as they can tell. */
const fits =
  ({ q, role, status, org_id: org }: UserFilter, actor: Principal): Where =>
  (eb) =>
    eb.and([
      ...(q === undefined
        ? []
        : [eb.or([like('email', q.toLowerCase()), like('display_name', q)])]),
      ...(role === undefined ? [] : [eb('role', '=', role)]),
      ...(status === undefined ? [] : [eb('status', '=', status as UserRow['status'])]),
      ...(org === undefined
        ? []
        : actor.orgs !== undefined && !actor.orgs.includes(org)
          ? [eb.lit(false)]
          : [
              eb.exists(
                eb
                  .selectFrom('iam_members')
                  .select('user_id')
                  .whereRef('iam_members.user_id', '=', 'iam_users.id')
                  .where('org_id', '=', org),
              ),
            ]),
    ]);

const like = (column: 'email' | 'display_name', text: string) =>
  sql<SqlBool>`${sql.ref(column)} like ${`%${text.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;
