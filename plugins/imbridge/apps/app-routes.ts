import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Apps } from './apps.ts';
import { AppDraft, AppShown, ById, LinkCode, LinkShown, Revealed } from './schema.ts';
import type { People } from './people.ts';

const path = '/api/v1/im/apps';
const links = '/api/v1/im/links';

export const appRoutes = (apps: Apps): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'none',
    summary: 'List connected chat apps, newest first',
    items: AppShown,
    handle: ({ page }) => apps.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: 'im:create',
    brief: ['id', 'callback_url'],
    summary: 'Connect a chat app',
    description: "Enter its callback_url in the platform's settings.",
    body: AppDraft,
    response: AppShown,
    action: 'im:create',
    errors: ['conflict'],
    handle: (call) => apps.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'none',
    summary: 'Get a connected chat app',
    params: ById,
    response: AppShown,
    errors: ['not_found'],
    handle: ({ params }) => apps.get(params.id),
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'im:update',
    brief: ['id'],
    summary: 'Replace a connected chat app',
    description: 'Secrets must be entered again if the endpoint changes.',
    params: ById,
    body: AppDraft,
    response: AppShown,
    action: 'im:update',
    errors: ['not_found', 'conflict'],
    handle: (call) => apps.replace(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'im:delete',
    summary: 'Delete a chat app and its links and threads',
    params: ById,
    action: 'im:delete',
    errors: ['not_found', 'conflict'],
    handle: (call) => apps.remove(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/reveal`,
    access: 'admin',
    summary: 'Reveal the secrets of a chat app; requires a sign-in within the last five minutes',
    params: ById,
    response: Revealed,
    status: 200,
    action: 'im:reveal',
    errors: ['not_found', 'forbidden', 'conflict'],
    handle(call) {
      call.note({ resourceType: 'im app', resourceId: call.params.id });
      return apps.reveal(call.params.id, call.principal);
    },
  }),
];

export const linkRoutes = (people: People): readonly RouteDeclaration[] => [
  listRoute({
    path: links,
    access: 'any',
    devices: 'none',
    summary: 'List chat accounts linked to you; administrators see all',
    items: LinkShown,
    handle: ({ principal, page }) => people.links(principal, page),
  }),
  route({
    method: 'POST',
    path: links,
    access: 'any',
    devices: 'none',
    summary: 'Create a one-time code that links your chat account',
    response: LinkCode,
    action: 'im:link',
    errors: ['forbidden'],
    handle: ({ principal }) => people.issueCode(principal),
  }),
  route({
    method: 'DELETE',
    path: `${links}/{id}`,
    access: 'any',
    devices: 'none',
    summary: 'Unlink your chat account or, as an administrator, any account',
    params: ById,
    action: 'im:unlink',
    errors: ['not_found'],
    handle: ({ principal, params, note }) => people.unlink(principal, params.id, note),
  }),
];
