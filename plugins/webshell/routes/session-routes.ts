import { listRoute, route, type RouteDeclaration, type Tables } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import { type Authority, shellAction } from '../rights/authority.ts';
import { IdParams, SessionItem, SessionQuery } from './schema.ts';
import { sessionStore } from '../sessions/session-store.ts';
import type { Shells } from '../shell/shells.ts';
import { shownSession } from './shown.ts';
import type { WebshellTables } from '../sessions/tables.ts';

export const sessionRoutes = (
  tables: Tables<WebshellTables>,
  shells: Shells,
  authority: Authority,
): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/webshell/sessions',
    access: 'any',
    devices: 'narrowed',
    summary: 'List open and closed shells, newest first',
    query: SessionQuery,
    items: SessionItem,
    async handle({ principal, query, page }) {
      const { items, ...rest } = await sessionStore(tables.read).list(
        await authority.seenBy(principal),
        { state: query.state ?? 'active', deviceId: query.device_id, userId: query.user_id },
        page,
      );
      return { ...rest, items: items.map((row) => shownSession(row, shells.get(row.id))) };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/webshell/sessions/{id}',
    access: shellAction,
    devices: 'narrowed',
    summary: 'End a shell at once',
    params: IdParams,
    action: 'webshell:kill',
    errors: ['not_found', 'conflict'],
    async handle(call) {
      const { params, principal } = call;
      const row = await sessionStore(tables.read).find(
        await authority.seenBy(principal),
        params.id,
      );
      if (!row) {
        throw errors.no_session({ id: params.id });
      }
      const shell = shells.get(params.id);
      if (!shell) {
        throw errors.session_ended({ id: params.id });
      }
      call.note({
        resourceType: 'session',
        resourceId: params.id,
        after: { device_id: row.device_id, user_id: row.user_id },
      });
      await shell.end('killed', 'this session was ended over the API');
    },
  }),
];
