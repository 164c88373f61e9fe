import { type Clock, type DeclaredCatalogue, type Principal, SvcError, type Tables } from 'svc/sdk';

import { areaOf, matching } from '../policy/grants.ts';
import type { Policy } from '../policy/policy.ts';
import { roleStore, type RoleRow } from '../store/role-store.ts';
import type { Iam, IamTables } from '../store/tables.ts';
import { userIdOf, userStore } from '../store/user-store.ts';
import { shownRole } from './shown.ts';
import type { By } from './users.ts';

export interface RoleDraft {
  readonly name: string;
  readonly description: string;
  readonly grants: readonly string[];
}

export interface RolesParts {
  readonly tables: Tables<IamTables>;
  readonly policy: Policy;
  readonly catalogue: DeclaredCatalogue;
  readonly clock: Clock;
  readonly changed: (name: string) => void;
}

export const mostRoles = 50;

/** Custom roles, next to the built-in ones that only the configuration changes. */
export class Roles {
  readonly #parts: RolesParts;

  constructor(parts: RolesParts) {
    this.#parts = parts;
  }

  create(by: By, { name, description, grants }: RoleDraft): Promise<RoleRow> {
    const { policy, clock } = this.#parts;
    return this.#following(async (tx) => {
      assertCustom(name, policy);
      this.#assertDeclared(grants, []);
      assertHeld(policy, by.principal, grants);
      const store = roleStore(tx);
      if ((await store.find(name)) !== undefined) {
        throw new SvcError('conflict', `there is a role ${name} already`, {
          details: [{ path: '/name', message: 'is taken' }],
        });
      }
      if ((await store.count()) >= mostRoles) {
        throw new SvcError(
          'conflict',
          `there are ${mostRoles} custom roles already, which is the most; delete one that is not needed`,
        );
      }
      const now = clock.now();
      const role = await store.insert({
        name,
        description,
        grants,
        created_by: userIdOf(by.principal) ?? null,
        created_at: now,
        updated_at: now,
      });
      by.note({ resourceId: name, after: shown(role) });
      return role;
    });
  }

  update(by: By, name: string, changes: Partial<Omit<RoleDraft, 'name'>>): Promise<RoleRow> {
    const { policy, clock } = this.#parts;
    return this.#following(async (tx) => {
      assertCustom(name, policy);
      const before = await found(tx, name);
      by.requireMatch({ updated_at: shown(before).updated_at! });
      // Also what it granted before: a right that the actor does not hold is not theirs to take away.
      assertHeld(policy, by.principal, before.grants);
      if (changes.grants) {
        this.#assertDeclared(changes.grants, before.grants);
        assertHeld(policy, by.principal, changes.grants);
      }
      const after = await roleStore(tx).update(name, changes, clock.now());
      by.note({ before: shown(before), after: shown(after) });
      return after;
    });
  }

  remove(by: By, name: string): Promise<void> {
    const { policy } = this.#parts;
    return this.#following(async (tx) => {
      assertCustom(name, policy);
      const before = await found(tx, name);
      by.requireMatch({ updated_at: shown(before).updated_at! });
      assertHeld(policy, by.principal, before.grants);
      const holders = await userStore(tx).holdersOf(name);
      if (holders > 0) {
        throw new SvcError(
          'conflict',
          `${holders === 1 ? 'one user has' : `${holders} users have`} the role ${name}; give them another one first`,
        );
      }
      await roleStore(tx).remove(name);
      by.note({ before: shown(before) });
    });
  }

  /** Actions that are there no more, such as `greeter:read` and `greeter:*` of the area `greeter`: who brings that name again finds no role that grants them. */
  forgetArea(area: string): Promise<void> {
    return this.#following(async (tx) => {
      const store = roleStore(tx);
      for (const { name, grants } of await store.all()) {
        const left = grants.filter((grant) => !grant.startsWith(`${area}:`));
        if (left.length < grants.length) {
          await store.update(name, { grants: left }, this.#parts.clock.now());
        }
      }
    });
  }

  /** Runs a write about roles; memory follows however it ended. */
  async #following<T>(write: (tx: Iam) => Promise<T>): Promise<T> {
    const { tables, policy, changed } = this.#parts;
    try {
      return await tables.write(write);
    } finally {
      await policy.refresh(changed);
    }
  }

  /** Grants are made from what svc declares; what a role holds already may stay when its area is away. */
  #assertDeclared(grants: readonly string[], held: readonly string[]): void {
    const actions = this.#parts.catalogue.actions().map(({ action }) => action);
    const known = new Set([
      ...actions,
      ...actions.flatMap((action) => areaOf(action) ?? []),
      ...held,
    ]);
    const strange = grants.findIndex((grant) => !known.has(grant));
    if (strange >= 0) {
      const message = `is not a declared action, such as ${actions[0]}, nor a whole area, such as ${areaOf(actions[0] ?? '') ?? 'edge:*'}`;
      throw new SvcError(
        'invalid_argument',
        `grants: ${grants[strange]} ${message}; GET /api/v1/policy/actions lists them`,
        {
          details: [{ path: `/grants/${strange}`, message }],
        },
      );
    }
  }
}

const shown = (row: RoleRow) => shownRole({ ...row, builtin: false });

async function found(tx: Iam, name: string): Promise<RoleRow> {
  return (await roleStore(tx).find(name)) ?? missingRole(name);
}

export function missingRole(name: string): never {
  throw new SvcError('not_found', `there is no role ${name}`);
}

function assertCustom(name: string, policy: Policy): void {
  if (policy.find(name)?.builtin === true) {
    throw new SvcError(
      'conflict',
      `the role ${name} is built in; what it grants is the setting policy.roles`,
    );
  }
}

/** What a membership adds counts in its organization only, while a role counts everywhere; and a token holds less than its role. */
function assertHeld(policy: Policy, actor: Principal, grants: readonly string[]): void {
  const ofRole = policy.grantsOf(actor.role);
  const beyond = grants.find(
    (grant) => matching(actor.grants, grant) === undefined || matching(ofRole, grant) === undefined,
  );
  if (beyond !== undefined) {
    throw new SvcError(
      'forbidden',
      `a role that grants ${beyond} is not for you to change, because your own role does not grant it`,
    );
  }
}
