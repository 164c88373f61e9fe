import { createHash } from 'node:crypto';

import { type Principal, route, type RouteDeclaration, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { Me } from './accounts/schema.ts';
import { shownUser } from './accounts/shown.ts';
import { missing } from './accounts/users.ts';
import { MemberStore } from './store/member-store.ts';
import type { IamTables } from './store/tables.ts';
import { userIdOf, UserStore } from './store/user-store.ts';

/** The caller as this service sees them at this moment. */
export const meRoutes = (tables: Tables<IamTables>): readonly RouteDeclaration[] =>
  (['/api/v1/me', '/api/v1/self'] as const).map((path) =>
    route({
      method: 'GET',
      path,
      access: 'known',
      devices: 'none',
      summary: 'Get the caller, including memberships and effective grants',
      response: Me,
      async handle(call) {
        const me = await whoAmI(tables, call.principal);
        call.setHeader('etag', tagOf(me));
        return me;
      },
    }),
  );

async function whoAmI(
  { read }: Tables<IamTables>,
  principal: Principal,
): Promise<Static<typeof Me>> {
  const id = userIdOf(principal);
  if (id === undefined) {
    return withoutAccount(principal);
  }
  const user = (await new UserStore(read).find(principal, id)) ?? missing(id);
  const memberships = await new MemberStore(read).ofUser(principal, id);
  return {
    ...shownUser(user),
    kind: principal.kind,
    memberships,
    grants: [...principal.grants],
    device_selectors: principal.selectors ? [...principal.selectors] : null,
  };
}

/** Roles, organizations and settings change what is shown without changing the account, so the tag is made from all of it. */
const tagOf = (me: Static<typeof Me>): string =>
  `"${createHash('sha256').update(JSON.stringify(me)).digest('base64url')}"`;

/** The operator and others without an account. */
const withoutAccount = ({
  kind,
  id,
  email,
  name = id,
  role,
  grants,
}: Principal): Static<typeof Me> => ({
  kind,
  id,
  email: email ?? null,
  display_name: name,
  role,
  status: 'active',
  memberships: [],
  grants: [...grants],
  device_selectors: null,
  created_at: null,
  updated_at: null,
  last_login_at: null,
});
