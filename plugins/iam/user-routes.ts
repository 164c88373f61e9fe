import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import {
  PasswordPatch,
  RolePatchOfUser,
  User,
  UserDraft,
  UserId,
  UserPatch,
  UserQuery,
} from './accounts/schema.ts';
import { shownUser } from './accounts/shown.ts';
import type { Users } from './accounts/users.ts';
import { userIdOf } from './store/user-store.ts';

const changeOfOne = { ifMatch: true, params: UserId, errors: ['not_found', 'conflict'] } as const;

/** Accounts, and what their holders sign in with and may. */
export const userRoutes = (users: Users): readonly RouteDeclaration[] => [
  ...accountRoutes(users),
  ...standingRoutes(users),
];

const accountRoutes = (users: Users): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/users',
    access: 'any',
    devices: 'none',
    summary: 'List users of your organizations',
    query: UserQuery,
    items: User,
    async handle({ principal, query, page }) {
      const { items, ...rest } = await users.list(principal, query, page);
      return { ...rest, items: items.map(shownUser) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/users',
    access: 'admin',
    summary: 'Create a user in the default organization',
    body: UserDraft,
    response: User,
    errors: ['conflict', 'rate_limited'],
    handle: async (call) =>
      shownUser(
        await users.create(call.body, userIdOf(call.principal), (user) =>
          call.note({ resourceId: user.id, after: shownUser(user) }),
        ),
      ),
  }),
  route({
    method: 'GET',
    path: '/api/v1/users/{id}',
    access: 'any',
    devices: 'none',
    summary: 'Get a user',
    params: UserId,
    response: User,
    errors: ['not_found'],
    handle: async ({ principal, params }) => shownUser(await users.get(principal, params.id)),
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/users/{id}',
    access: 'admin',
    summary:
      "Update a user's e-mail address, name or status; disabling a user signs them out at once",
    ...changeOfOne,
    body: UserPatch,
    response: User,
    handle: async (call) => shownUser(await users.update(call, call.params.id, call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/users/{id}',
    access: 'admin',
    summary: 'Delete a user; audit entries keep the name, and the e-mail address can be used again',
    ...changeOfOne,
    handle: (call) => users.remove(call, call.params.id),
  }),
];

/** Routes that end or limit the sessions of a user. */
const standingRoutes = (users: Users): readonly RouteDeclaration[] => [
  route({
    method: 'PATCH',
    path: '/api/v1/users/{id}/password',
    access: { action: 'admin', self: 'id' },
    devices: 'none',
    summary: "Change a user's password and end all of that user's sessions",
    description: 'Changing your own password requires current_password, whatever your role.',
    ...changeOfOne,
    body: PasswordPatch,
    response: User,
    errors: ['not_found', 'conflict', 'rate_limited'],
    handle: async (call) =>
      shownUser(
        await users.setPassword(
          call,
          call.params.id,
          call.body.password,
          call.body.current_password,
        ),
      ),
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/users/{id}/role',
    access: 'admin',
    summary: "Change a user's role, effective from the next request",
    ...changeOfOne,
    body: RolePatchOfUser,
    response: User,
    handle: async (call) => shownUser(await users.setRole(call, call.params.id, call.body.role)),
  }),
];
