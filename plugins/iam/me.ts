import { createHash } from 'node:crypto';

import type { Principal, Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { memberStore } from './member-store.ts';
import type { Me } from './schema.ts';
import { shownUser } from './shown.ts';
import type { IamTables } from './tables.ts';
import { missing } from './users.ts';
import { userIdOf, userStore } from './user-store.ts';

export type WhoAmI = (principal: Principal) => Promise<Static<typeof Me>>;

/** The caller as the house sees them at this moment. */
export const createWhoAmI =
  (tables: Tables<IamTables>): WhoAmI =>
  async (principal) => {
    const id = userIdOf(principal);
    return id === undefined ? stranger(principal) : await account(principal, id);

    async function account(actor: Principal, own: number): Promise<Static<typeof Me>> {
      const user = (await userStore(tables.read).find(actor, own)) ?? missing(own);
      const memberships = await memberStore(tables.read).ofUser(actor, own);
      return {
        ...shownUser(user),
        kind: actor.kind,
        memberships,
        grants: [...actor.grants],
      };
    }
  };

/** Roles, organizations and settings change what is shown without changing the account, so the tag is made from all of it. */
export const tagOf = (me: Static<typeof Me>): string => `"${createHash('sha256').update(JSON.stringify(me)).digest('base64url')}"`;

/** The operator and others without an account. */
const stranger = ({ kind, id, email, name = id, role, grants }: Principal): Static<typeof Me> => ({
  ...{ kind, id, email: email ?? null, display_name: name, role, status: 'active' },
  memberships: [],
  grants: [...grants],
  ...{ created_at: null, updated_at: null, last_login_at: null },
});
