import { listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';

import { NewToken, OfUser, TokenId, TokenMade, type TokenShape, TokenShown } from './schema.ts';
import type { ApiTokenRow } from './store/tables.ts';
import type { ApiTokens } from './tokens/api-tokens.ts';

export const tokenRoutes = (apiTokens: ApiTokens): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/tokens',
    access: 'any',
    devices: 'none',
    summary: 'List your API tokens, without their secret values',
    query: OfUser,
    items: TokenShown,
    errors: ['forbidden'],
    handle: async ({ principal, query, page }) => {
      const { items, total, next } = await apiTokens.list(principal, query.user_id, page);
      return { items: items.map(shown), total, next };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/tokens',
    access: 'any',
    devices: 'none',
    summary: 'Create an API token that acts as you, limited to the given actions',
    body: NewToken,
    response: TokenMade,
    errors: ['forbidden', 'conflict'],
    handle: async (call) => {
      const { name, actions, expires_at } = call.body;
      call.note({ after: { name, actions, expires_at } });
      const { row, token } = await apiTokens.create(call.principal, call.body, (id) =>
        call.note({ resourceId: id }),
      );
      return { ...shown(row), token };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/tokens/{id}',
    access: 'any',
    devices: 'none',
    summary: 'Revoke an API token',
    params: TokenId,
    errors: ['not_found', 'forbidden'],
    handle: ({ principal, params }) => apiTokens.revoke(principal, params.id),
  }),
];

const shown = ({
  id,
  user_id,
  name,
  actions,
  created_at,
  expires_at,
  last_used_at,
}: ApiTokenRow): TokenShape => ({
  id,
  user_id,
  name,
  actions: JSON.parse(actions) as string[],
  created_at: timestamp(created_at),
  expires_at: timestamp(expires_at),
  last_used_at: last_used_at === null ? null : timestamp(last_used_at),
});
