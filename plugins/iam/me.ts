import { type Principal, type Tables, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { memberStore } from './member-store.ts';
import type { Policy } from './policy.ts';
import type { Me } from './schema.ts';
import { shownUser } from './shown.ts';
import type { IamTables } from './tables.ts';
import { missing } from './users.ts';
import { userIdOf, userStore } from './user-store.ts';

export type WhoAmI = (principal: Principal) => Promise<Static<typeof Me>>;

/** The caller as the house sees them at this moment. */
export const createWhoAmI =
  (tables: Tables<IamTables>, policy: Policy): WhoAmI =>
  async (principal) => {
    const id = userIdOf(principal);
    return id === undefined ? stranger(principal) : await account(principal, id);

    async function account(actor: Principal, own: number): Promise<Static<typeof Me>> {
      const user = (await userStore(tables.read).find(actor, own)) ?? missing(own);
      const memberships = await memberStore(tables.read).ofUser(actor, own);
      // The tag of the answer is made from this, so it tells of every change of what is shown.
      const changedAt = Math.max(user.updated_at, policy.changedAt(user.role), ...memberships.map(({ changed_at }) => changed_at));
      return {
        ...shownUser(user),
        kind: actor.kind,
        memberships: memberships.map(({ org_id, name, role }) => ({ org_id, name, role })),
        grants: [...actor.grants],
        updated_at: timestamp(changedAt),
      };
    }
  };

/** The operator and others without an account. */
const stranger = ({ kind, id, email, name = id, role, grants }: Principal): Static<typeof Me> => ({
  ...{ kind, id, email: email ?? null, display_name: name, role, status: 'active' },
  memberships: [],
  grants: [...grants],
  ...{ created_at: null, updated_at: null, last_login_at: null },
});
