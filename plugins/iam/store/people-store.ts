import type { Iam, OrgRole, UserStatus } from './tables.ts';

export interface Membership {
  readonly org_id: number;
  readonly role: OrgRole;
  /** Device selector of the organization, which limits what its members see. */
  readonly device_selector: string | null;
}

/** Account as held in memory. */
export interface Account {
  readonly id: number;
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly status: UserStatus;
  readonly version: number;
  readonly memberships: readonly Membership[];
}

/**
 * Internal access to accounts: for the in-memory copy, for signing in, and for rows that name
 * people. No route reads from here.
 */
export class PeopleStore {
  readonly #db: Iam;

  constructor(db: Iam) {
    this.#db = db;
  }

  /** All accounts that are not deleted, or those of `ids`. */
  async accounts(ids?: readonly number[]): Promise<Account[]> {
    const users = await this.#db
      .selectFrom('iam_users')
      .select(['id', 'email', 'display_name', 'role', 'status', 'version'])
      .where('deleted_at', 'is', null)
      .$if(ids !== undefined, (query) => query.where('id', 'in', [...ids!]))
      .orderBy('id')
      .execute();
    const members = await this.#db
      .selectFrom('iam_members')
      .innerJoin('iam_orgs', 'iam_orgs.id', 'iam_members.org_id')
      .select(['org_id', 'user_id', 'role', 'device_selector'])
      .$if(ids !== undefined, (query) => query.where('user_id', 'in', [...ids!]))
      .orderBy('org_id')
      .execute();
    const memberships = new Map<number, Membership[]>();
    for (const { user_id: user, ...membership } of members) {
      memberships.set(user, [...(memberships.get(user) ?? []), membership]);
    }
    return users.map((user) => ({ ...user, memberships: memberships.get(user.id) ?? [] }));
  }

  credentials(email: string) {
    return this.#db
      .selectFrom('iam_users')
      .select(['id', 'status', 'version', 'password_hash'])
      .where('email', '=', email)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
  }

  /** Replaces a hash by a stronger one of the same password, unless the password was changed meanwhile. */
  renewHash(id: number, old: string, renewed: string) {
    return this.#db
      .updateTable('iam_users')
      .set({ password_hash: renewed })
      .where('id', '=', id)
      .where('password_hash', '=', old)
      .execute();
  }

  noteLogin(id: number, now: number) {
    return this.#db
      .updateTable('iam_users')
      .set({ last_login_at: now })
      .where('id', '=', id)
      .execute();
  }

  timesOf(id: number) {
    return this.#db
      .selectFrom('iam_users')
      .select(['created_at', 'updated_at', 'last_login_at'])
      .where('id', '=', id)
      .executeTakeFirst();
  }

  /** Returns the name, also of a deleted account. */
  nameOf(id: number) {
    return this.#db
      .selectFrom('iam_users')
      .select(['email', 'display_name'])
      .where('id', '=', id)
      .executeTakeFirst();
  }
}
