import type { Clock, DeclaredCatalogue, Principal, Tables } from 'svc/sdk';

import { areaOf, matching } from '../policy/grants.ts';
import type { Policy } from '../policy/policy.ts';
import { RoleStore, type RoleRow } from '../store/role-store.ts';
import type { Iam, IamTables } from '../store/tables.ts';
import { userIdOf, UserStore } from '../store/user-store.ts';
import { errors } from './errors.ts';
import { shownRole } from './shown.ts';
import type { Actor } from './users.ts';

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

export const maxRoles = 50;

/** Custom roles, next to the built-in ones that only the configuration changes. */
export class Roles {
  readonly #parts: RolesParts;

  constructor(parts: RolesParts) {
    this.#parts = parts;
  }

  create(by: Actor, { name, description, grants }: RoleDraft): Promise<RoleRow> {
    const { policy, clock } = this.#parts;
    return this.#following(async (tx) => {
      assertCustom(name, policy);
      this.#assertDeclared(grants, []);
      assertHeld(policy, by.principal, grants);
      const store = new RoleStore(tx);
      if ((await store.find(name)) !== undefined) {
        throw errors.role_taken({ name }, { details: [{ path: '/name', message: 'is taken' }] });
      }
      if ((await store.count()) >= maxRoles) {
        throw errors.too_many_roles({ max: maxRoles });
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

  update(by: Actor, name: string, changes: Partial<Omit<RoleDraft, 'name'>>): Promise<RoleRow> {
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
      const after = await new RoleStore(tx).update(name, changes, clock.now());
      by.note({ before: shown(before), after: shown(after) });
      return after;
    });
  }

  remove(by: Actor, name: string): Promise<void> {
    const { policy } = this.#parts;
    return this.#following(async (tx) => {
      assertCustom(name, policy);
      const before = await found(tx, name);
      by.requireMatch({ updated_at: shown(before).updated_at! });
      assertHeld(policy, by.principal, before.grants);
      const holders = await new UserStore(tx).holdersOf(name);
      if (holders > 0) {
        throw errors.role_held({
          holders: holders === 1 ? 'one user has' : `${holders} users have`,
          name,
        });
      }
      await new RoleStore(tx).remove(name);
      by.note({ before: shown(before) });
    });
  }

  /**
   * Removes the actions of a deleted area, such as `greeter:read` and `greeter:*`: another area
   * that takes that name finds no role that grants them.
   */
  forgetArea(area: string): Promise<void> {
    return this.#following(async (tx) => {
      const store = new RoleStore(tx);
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
    for (const [index, grant] of grants.entries()) {
      if (known.has(grant)) {
        continue;
      }
      const message = `is not a declared action, such as ${actions[0]}, nor a whole area, such as ${areaOf(actions[0] ?? '') ?? 'edge:*'}`;
      throw errors.grants({ grant, message }, { details: [{ path: `/grants/${index}`, message }] });
    }
  }
}

const shown = (row: RoleRow) => shownRole({ ...row, builtin: false });

async function found(tx: Iam, name: string): Promise<RoleRow> {
  return (await new RoleStore(tx).find(name)) ?? missingRole(name);
}

export function missingRole(name: string): never {
  throw errors.no_role({ name });
}

function assertCustom(name: string, policy: Policy): void {
  if (policy.find(name)?.builtin === true) {
    throw errors.built_in_role({ name });
  }
}

/**
 * Throws unless the actor holds these grants: a membership counts in its organization only, while a
 * role counts everywhere; and a token holds less than its role.
 */
function assertHeld(policy: Policy, actor: Principal, grants: readonly string[]): void {
  const ofRole = policy.grantsOf(actor.role);
  const beyond = grants.find(
    (grant) => matching(actor.grants, grant) === undefined || matching(ofRole, grant) === undefined,
  );
  if (beyond !== undefined) {
    throw errors.beyond_you({ beyond });
  }
}
