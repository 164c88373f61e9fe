import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Members } from './accounts/members.ts';
import type { Orgs } from './accounts/orgs.ts';
import {
  Member,
  MemberDraft,
  MemberId,
  MemberPatch,
  Org,
  OrgDraft,
  OrgId,
  OrgPatch,
  OrgQuery,
} from './accounts/schema.ts';
import { shownOrg } from './accounts/shown.ts';

export const orgRoutes = (orgs: Orgs): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/orgs',
    access: 'any',
    devices: 'none',
    summary: 'List your organizations; administrators see all',
    query: OrgQuery,
    items: Org,
    async handle({ principal, query, page }) {
      const { items, ...rest } = await orgs.list(principal, query.q, page);
      return { ...rest, items: items.map(shownOrg) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs',
    access: 'admin',
    summary: 'Create an organization',
    body: OrgDraft,
    response: Org,
    errors: ['not_found', 'conflict'],
    handle: async (call) => shownOrg(await orgs.create(call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/{id}',
    access: 'any',
    devices: 'none',
    summary: 'Get an organization',
    params: OrgId,
    response: Org,
    errors: ['not_found'],
    handle: async ({ principal, params }) => shownOrg(await orgs.get(principal, params.id)),
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/orgs/{id}',
    ifMatch: true,
    access: 'admin',
    summary: "Update an organization's name, description or parent",
    params: OrgId,
    body: OrgPatch,
    response: Org,
    errors: ['not_found', 'conflict'],
    handle: async (call) => shownOrg(await orgs.update(call, call.params.id, call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/{id}',
    ifMatch: true,
    access: 'admin',
    summary: 'Delete an organization; its members remain users',
    params: OrgId,
    errors: ['not_found', 'conflict'],
    handle: (call) => orgs.remove(call, call.params.id),
  }),
];

export const memberRoutes = (members: Members): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/orgs/{id}/members',
    access: 'any',
    devices: 'none',
    summary: 'List the members of an organization',
    params: OrgId,
    items: Member,
    errors: ['not_found'],
    handle: ({ principal, params, page }) => members.list(principal, params.id, page),
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/{id}/members',
    access: 'member:manage',
    devices: 'none',
    brief: ['user_id'],
    action: 'member:create',
    summary: 'Add a user to an organization',
    params: OrgId,
    body: MemberDraft,
    response: Member,
    errors: ['not_found', 'conflict'],
    handle: (call) =>
      members.add(call, call.params.id, call.body.user_id, call.body.role ?? 'member'),
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/orgs/{id}/members/{user_id}',
    access: 'member:manage',
    devices: 'none',
    brief: ['user_id'],
    summary: "Change a member's role in an organization",
    params: MemberId,
    body: MemberPatch,
    response: Member,
    errors: ['not_found'],
    handle: (call) => members.setRole(call, call.params.id, call.params.user_id, call.body.role),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/{id}/members/{user_id}',
    access: 'member:manage',
    devices: 'none',
    summary: 'Remove a member from an organization',
    params: MemberId,
    errors: ['not_found'],
    handle: (call) => members.remove(call, call.params.id, call.params.user_id),
  }),
];
