import { covers } from 'svc/sdk';

import type { OrgRole } from '../store/tables.ts';

/**
 * Grant of everything; only the role `admin` has it, so that admins are exactly the holders of that
 * role.
 */
export const everything = '*';

/** Grants that a membership adds to those of the role, within that organization. */
export const orgRoleGrants: Readonly<Record<OrgRole, readonly string[]>> = {
  org_admin: ['member:manage'],
  member: [],
  viewer: [],
};

/** The grant among `grants` that covers `wanted`, an action or itself a grant. */
export function matching(grants: readonly string[], wanted: string): string | undefined {
  return grants.find((grant) => covers(grant, wanted));
}

/** `edge:*` for `edge:create`. */
export const areaOf = (action: string): string | undefined =>
  action.includes(':') ? `${action.slice(0, action.indexOf(':'))}:*` : undefined;
