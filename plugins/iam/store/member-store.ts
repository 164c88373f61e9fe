import { type Page, pageOf, type PageRequest, type Principal } from 'svc/sdk';

import type { Iam, OrgRole } from './tables.ts';
import { seenBy } from './user-store.ts';

export interface MemberRow {
  readonly user_id: number;
  readonly email: string;
  readonly display_name: string;
  readonly role: OrgRole;
}

const columns = ['user_id', 'email', 'display_name', 'iam_members.role'] as const;

/** Members of one organization that the caller has found for their actor already. */
export class MemberStore {
  readonly #db: Iam;

  constructor(db: Iam) {
    this.#db = db;
  }

  list(org: number, page: PageRequest): Promise<Page<MemberRow>> {
    return pageOf(this.#of(org).select(columns), 'user_id', page);
  }

  find(org: number, user: number): Promise<MemberRow | undefined> {
    return this.#of(org).select(columns).where('user_id', '=', user).executeTakeFirst();
  }

  insert(org: number, user: number, role: OrgRole) {
    return this.#db
      .insertInto('iam_members')
      .values({ org_id: org, user_id: user, role })
      .execute();
  }

  update(org: number, user: number, role: OrgRole) {
    return this.#db
      .updateTable('iam_members')
      .set({ role })
      .where('org_id', '=', org)
      .where('user_id', '=', user)
      .execute();
  }

  remove(org: number, user: number) {
    return this.#db
      .deleteFrom('iam_members')
      .where('org_id', '=', org)
      .where('user_id', '=', user)
      .execute();
  }

  removeUser(user: number) {
    return this.#db.deleteFrom('iam_members').where('user_id', '=', user).execute();
  }

  async idsOf(org: number): Promise<readonly number[]> {
    return (
      await this.#db.selectFrom('iam_members').select('user_id').where('org_id', '=', org).execute()
    ).map((row) => row.user_id);
  }

  /** Empties an organization and returns its former members. */
  async removeAll(org: number): Promise<readonly number[]> {
    return (
      await this.#db
        .deleteFrom('iam_members')
        .where('org_id', '=', org)
        .returning('user_id')
        .execute()
    ).map((row) => row.user_id);
  }

  async countOrgsOf(user: number): Promise<number> {
    return (
      await this.#db
        .selectFrom('iam_members')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('user_id', '=', user)
        .executeTakeFirstOrThrow()
    ).total;
  }

  /** Returns the memberships of a user, as `/me` shows them. */
  ofUser(actor: Principal, user: number) {
    return this.#db
      .selectFrom('iam_members')
      .innerJoin('iam_orgs', 'iam_orgs.id', 'iam_members.org_id')
      .select(['org_id', 'name', 'role'])
      .where('user_id', 'in', (eb) =>
        eb.selectFrom('iam_users').select('id').where(seenBy(actor)).where('id', '=', user),
      )
      .orderBy('org_id')
      .execute();
  }

  #of(org: number) {
    return this.#db
      .selectFrom('iam_members')
      .innerJoin('iam_users', 'iam_users.id', 'iam_members.user_id')
      .where('org_id', '=', org);
  }
}
