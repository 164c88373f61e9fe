import type { Page, PageRequest, Principal, Tables } from 'svc/sdk';

import { matching } from '../policy/grants.ts';
import type { People } from '../policy/people.ts';
import type { Policy } from '../policy/policy.ts';
import { type MemberRow, MemberStore } from '../store/member-store.ts';
import { OrgStore } from '../store/org-store.ts';
import type { Iam, IamTables, OrgRole } from '../store/tables.ts';
import { userIdOf, UserStore } from '../store/user-store.ts';
import { errors } from './errors.ts';
import { missingOrg } from './orgs.ts';
import { type Actor, missing } from './users.ts';

export interface MembersParts {
  readonly tables: Tables<IamTables>;
  readonly people: People;
  readonly policy: Policy;
  /** Each is looked at by every scoped query of the person. */
  readonly maxOrgsOfUser?: number;
}

const defaultMostOrgsOfUser = 100;

/** Memberships. The in-memory copy of the member is updated after each change. */
export class Members {
  readonly #parts: MembersParts;

  constructor(parts: MembersParts) {
    this.#parts = parts;
  }

  async list(actor: Principal, org: number, page: PageRequest): Promise<Page<MemberRow>> {
    const { tables } = this.#parts;
    await assertSeen(tables.read, actor, org);
    return new MemberStore(tables.read).list(org, page);
  }

  add(by: Actor, org: number, user: number, role: OrgRole): Promise<MemberRow> {
    const { maxOrgsOfUser = defaultMostOrgsOfUser } = this.#parts;
    return this.#amend(by, org, user, async (tx, before) => {
      const store = new MemberStore(tx);
      if ((await new UserStore(tx).find(by.principal, user)) === undefined) {
        missing(user);
      }
      if (before !== undefined) {
        throw errors.already_member({ user });
      }
      if ((await store.countOrgsOf(user)) >= maxOrgsOfUser) {
        throw errors.too_many_orgs_of_user({ user, max: maxOrgsOfUser });
      }
      await store.insert(org, user, role);
      return (await store.find(org, user)) ?? missing(user);
    });
  }

  setRole(by: Actor, org: number, user: number, role: OrgRole): Promise<MemberRow> {
    return this.#amend(by, org, user, async (tx, before) => {
      const member = before ?? missingMember(org, user);
      await new MemberStore(tx).update(org, user, role);
      return { ...member, role };
    });
  }

  remove(by: Actor, org: number, user: number): Promise<void> {
    return this.#amend(by, org, user, async (tx, before) => {
      if (before === undefined) {
        missingMember(org, user);
      }
      await assertMayWiden(tx, by.principal, org);
      await new MemberStore(tx).remove(org, user);
    });
  }

  /** A change of one membership by an actor who may manage the members of that organization. */
  #amend<T>(
    by: Actor,
    org: number,
    user: number,
    work: (tx: Iam, before: MemberRow | undefined) => Promise<T>,
  ): Promise<T> {
    const { tables, people } = this.#parts;
    return people.following([user], () =>
      tables.write(async (tx) => {
        await this.#assertManages(tx, by.principal, org);
        const before = await new MemberStore(tx).find(org, user);
        const result = await work(tx, before);
        by.note({
          resourceType: 'member',
          resourceId: `${org}/${user}`,
          before,
          after: await new MemberStore(tx).find(org, user),
        });
        return result;
      }),
    );
  }

  /** The role grants it for every organization the actor sees, `org_admin` for that one alone. */
  async #assertManages(tx: Iam, actor: Principal, org: number): Promise<void> {
    const { name } = (await new OrgStore(tx).find(actor, org)) ?? missingOrg(org);
    const own = userIdOf(actor);
    const isOrgAdmin =
      own !== undefined && (await new MemberStore(tx).find(org, own))?.role === 'org_admin';
    const byRole = matching(this.#parts.policy.grantsOf(actor.role), 'member:manage') !== undefined;
    if (!byRole && !isOrgAdmin) {
      throw errors.not_org_admin({ name });
    }
  }
}

async function assertSeen(db: Iam, actor: Principal, org: number): Promise<void> {
  if ((await new OrgStore(db).find(actor, org)) === undefined) {
    missingOrg(org);
  }
}

/**
 * Throws unless the actor may widen access: leaving an organization with a selector may reveal more
 * devices, so its own admins cannot remove anybody.
 */
async function assertMayWiden(tx: Iam, actor: Principal, org: number): Promise<void> {
  const { name, device_selector: selector } =
    (await new OrgStore(tx).find(actor, org)) ?? missingOrg(org);
  if (actor.selectors !== undefined && selector !== null) {
    throw errors.narrows_members({ name });
  }
}

function missingMember(org: number, user: number): never {
  throw errors.no_member({ user, org });
}
