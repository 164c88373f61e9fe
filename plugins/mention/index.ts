import { definePlugin, route } from 'svc/sdk';
import { Type } from 'typebox';

import { MentionDirectory, Mentions } from './contract.ts';
import { MentionBook } from './mention-book.ts';

const Query = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 100 })),
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 31 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
});
const List = Type.Object({
  items: Type.Array(Type.Object({ type: Type.String(), id: Type.String(), label: Type.String(), subtitle: Type.String(), insert: Type.String() })),
});

const usualLimit = 10;

export default definePlugin({
  activate(ctx) {
    const book = new MentionBook(ctx.extend.open(Mentions));
    ctx.services.provide(MentionDirectory, () => book);
    ctx.http.routes([
      route({
        method: 'GET',
        path: '/api/v1/aiops/mentions/search',
        access: 'any',
        summary: 'Complete an @ in a message: devices, edges, dashboards, incidents',
        query: Query,
        response: List,
        handle: async ({ principal, query: { q = '', type, limit = usualLimit } }) => ({ items: [...(await book.search(q, type, principal, limit))] }),
      }),
    ]);
  },
});
