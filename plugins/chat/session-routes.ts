import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import {
  BySession,
  MessageItem,
  MessageQuery,
  NewSessionBody,
  SessionItem,
  SessionPatch,
  SessionQuery,
  shownMessage,
  shownSession,
} from './schema.ts';
import type { Sessions } from './session/sessions.ts';

export const path = '/api/v1/chat/sessions';

export const sessionRoutes = (sessions: Sessions): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List your sessions, most recent message first',
    query: SessionQuery,
    items: SessionItem,
    handle: async ({ principal, query, page }) => {
      const { items, ...rest } = await sessions.list(principal, query, page);
      return { ...rest, items: items.map(shownSession) };
    },
  }),
  route({
    method: 'POST',
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'Create a session; its title defaults to the first message',
    body: NewSessionBody,
    response: SessionItem,
    status: 201,
    handle: async ({ principal, body, note }) => {
      const row = await sessions.create(principal, body);
      note({ resourceType: 'chat session', resourceId: row.id });
      return shownSession(row);
    },
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Rename or tag a session',
    params: BySession,
    body: SessionPatch,
    response: SessionItem,
    errors: ['not_found'],
    handle: async ({ principal, params, body }) =>
      shownSession(await sessions.change(principal, params.id, body)),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Delete a session and its messages and runs',
    params: BySession,
    errors: ['not_found', 'conflict'],
    handle: ({ principal, params }) => sessions.remove(principal, params.id),
  }),
  listRoute({
    path: `${path}/{id}/messages`,
    access: 'any',
    devices: 'narrowed',
    summary: 'List the messages of a session, newest first unless order=asc',
    params: BySession,
    query: MessageQuery,
    items: MessageItem,
    errors: ['not_found'],
    handle: async ({ principal, params, query, page }) => {
      const { items, ...rest } = await sessions.messages(
        principal,
        params.id,
        page,
        query.order ?? 'desc',
      );
      return { ...rest, items: items.map(shownMessage) };
    },
  }),
];
