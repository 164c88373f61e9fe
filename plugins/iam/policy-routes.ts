import {
  type DeclaredCatalogue,
  listRoute,
  type Page,
  type PageRequest,
  route,
  type RouteDeclaration,
} from 'svc/sdk';

import type { Explain } from './accounts/explain.ts';
import { missingRole, type Roles } from './accounts/roles.ts';
import {
  Action,
  Explained,
  ExplainQuery,
  Role,
  RoleDraft,
  RoleKey,
  RolePatch,
} from './accounts/schema.ts';
import { shownRole } from './accounts/shown.ts';
import type { Policy } from './policy/policy.ts';

export const roleRoutes = (policy: Policy, roles: Roles): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/roles',
    access: 'any',
    devices: 'none',
    summary: 'List roles and their grants, built-in ones first',
    items: Role,
    handle({ page }) {
      const { items, ...rest } = pageOf(policy.list(), page);
      return { ...rest, items: items.map(shownRole) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/roles/{name}',
    access: 'any',
    devices: 'none',
    summary: 'Get a role',
    params: RoleKey,
    response: Role,
    errors: ['not_found'],
    handle: ({ params }) => shownRole(policy.find(params.name) ?? missingRole(params.name)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/roles',
    access: 'role:manage',
    devices: 'none',
    reads: 'none',
    summary: 'Create a custom role from actions that you have yourself',
    body: RoleDraft,
    response: Role,
    errors: ['conflict'],
    handle: async (call) => shownRole({ ...(await roles.create(call, call.body)), builtin: false }),
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/roles/{name}',
    ifMatch: true,
    access: 'role:manage',
    devices: 'none',
    brief: ['name'],
    summary: 'Change the grants of a custom role, effective from the next request',
    params: RoleKey,
    body: RolePatch,
    response: Role,
    errors: ['not_found', 'conflict'],
    handle: async (call) =>
      shownRole({ ...(await roles.update(call, call.params.name, call.body)), builtin: false }),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/roles/{name}',
    ifMatch: true,
    access: 'role:manage',
    devices: 'none',
    summary: 'Delete a custom role that is not assigned to any user',
    params: RoleKey,
    errors: ['not_found', 'conflict'],
    handle: (call) => roles.remove(call, call.params.name),
  }),
];

export const policyRoutes = (
  catalogue: DeclaredCatalogue,
  explain: Explain,
): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/policy/actions',
    access: 'any',
    devices: 'none',
    summary: 'List all actions that roles can grant',
    items: Action,
    handle({ page }) {
      const actions = catalogue.actions().toSorted((a, b) => (a.action < b.action ? -1 : 1));
      return pageOf(
        actions.map(({ action, description, pluginId }) => ({
          action,
          description,
          plugin: pluginId,
        })),
        page,
      );
    },
  }),
  listRoute({
    path: '/api/v1/policy/explain',
    access: 'admin',
    summary: 'Explain who may perform an action or, with user_id, whether that user may',
    query: ExplainQuery,
    items: Explained,
    errors: ['not_found'],
    handle: ({ query, page }) => explain(query.action, query.user_id, page),
  }),
];

/** A page of a list that is held in memory and whose order stands still; the cursor is a place in it. */
function pageOf<T>(all: readonly T[], { limit, after }: PageRequest): Page<T> {
  const from = Number(after?.[0] ?? 0);
  const items = all.slice(from, from + limit);
  return { items, total: all.length, next: from + limit < all.length ? [from + limit] : undefined };
}
