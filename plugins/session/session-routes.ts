import { listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';

import { OfUser, SessionId, type SessionShape, SessionShown } from './schema.ts';
import type { Sessions } from './sessions/sessions.ts';
import { sessionIdleMs, sessionMs } from './store/lifetimes.ts';
import type { SessionRow } from './store/tables.ts';

export const sessionRoutes = (sessions: Sessions): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/sessions',
    access: 'any',
    devices: 'none',
    summary: 'List your sessions',
    query: OfUser,
    items: SessionShown,
    errors: ['forbidden'],
    handle: async ({ principal, query, page }) => {
      const { items, total, next } = await sessions.list(principal, query.user_id, page);
      return { items: items.map((row) => shown(row, principal.session)), total, next };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/sessions/{id}',
    access: 'any',
    devices: 'none',
    summary: 'End one of your sessions',
    params: SessionId,
    errors: ['not_found', 'forbidden'],
    handle: ({ principal, params }) => sessions.end(principal, params.id),
  }),
];

const shown = (
  { id, user_id, ip, user_agent, created_at, refreshed_at, last_used_at }: SessionRow,
  current: string | undefined,
): SessionShape => ({
  id,
  user_id,
  ip,
  user_agent,
  current: id === current,
  created_at: timestamp(created_at),
  last_used_at: timestamp(last_used_at),
  expires_at: timestamp(Math.min(created_at + sessionMs, refreshed_at + sessionIdleMs)),
});
