import type { Person } from 'svc/contracts/iam';
import type { DeclaredCatalogue, Page, PageRequest } from 'svc/sdk';
import type { Static } from 'typebox';

import { everything, matching, orgRoleGrants } from '../policy/grants.ts';
import type { People } from '../policy/people.ts';
import type { Policy } from '../policy/policy.ts';
import { errors } from './errors.ts';
import type { Explained } from './schema.ts';
import { missing } from './users.ts';

export interface ExplainParts {
  readonly people: People;
  readonly policy: Policy;
  readonly catalogue: DeclaredCatalogue;
}

interface Verdict {
  readonly allowed: boolean;
  readonly via: 'account' | 'role' | 'membership' | null;
  readonly grant: string | null;
  readonly org_id: number | null;
  readonly reason: string;
}

export type Explain = (
  action: string,
  userId: number | undefined,
  page: PageRequest,
) => Page<Static<typeof Explained>>;

/**
 * Creates the explanation of who may do something and why: for one person yes or no, for everybody
 * the list.
 */
export function createExplain({ people, policy, catalogue }: ExplainParts): Explain {
  function explained(person: Person, action: string): Static<typeof Explained> {
    const { id, email, display_name, role, status } = person;
    return { user_id: id, email, display_name, role, status, ...verdict(person, action) };
  }

  function verdict({ id, role, status }: Person, action: string): Verdict {
    if (status === 'disabled') {
      return denied('the account is disabled');
    }
    if (action === 'any') {
      return {
        allowed: true,
        via: 'account',
        grant: null,
        org_id: null,
        reason: 'every active account may',
      };
    }
    const grant = matching(policy.grantsOf(role), action === 'admin' ? everything : action);
    if (grant !== undefined) {
      return {
        allowed: true,
        via: 'role',
        grant,
        org_id: null,
        reason: `the role ${role} grants ${grant}`,
      };
    }
    const membership = people
      .account(id)
      ?.memberships.find((member) => matching(orgRoleGrants[member.role], action) !== undefined);
    return membership === undefined
      ? denied(
          action === 'admin'
            ? `the role ${role} is not admin`
            : `the role ${role} does not grant ${action}`,
        )
      : {
          allowed: true,
          via: 'membership',
          grant: action,
          org_id: membership.org_id,
          reason: `being ${membership.role} of organization ${membership.org_id} grants ${action} there`,
        };
  }

  return (action, userId, { limit, after }) => {
    assertKnown(action, catalogue);
    if (userId !== undefined) {
      return { items: [explained(people.find(userId) ?? missing(userId), action)], total: 1 };
    }
    const able = people
      .all()
      .map((person) => explained(person, action))
      .filter(({ allowed }) => allowed);
    const rest = able.filter((item) => item.user_id > Number(after?.[0] ?? 0));
    const items = rest.slice(0, limit);
    return {
      items,
      total: able.length,
      next: rest.length > limit ? [items.at(-1)!.user_id] : undefined,
    };
  };
}

const denied = (reason: string): Verdict => ({
  allowed: false,
  via: null,
  grant: null,
  org_id: null,
  reason,
});

function assertKnown(action: string, catalogue: DeclaredCatalogue): void {
  if (
    !['admin', 'any'].includes(action) &&
    !catalogue.actions().some((declared) => declared.action === action)
  ) {
    const message =
      'must be admin, any or an action of this svc; GET /api/v1/policy/actions lists them';
    throw errors.action({ message }, { details: [{ path: '/action', message }] });
  }
}
