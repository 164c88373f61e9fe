import { listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { Type } from 'typebox';

import type { Entry } from 'svc/contracts/plugin-id';
import type { EntryBook } from './book.ts';

const Shown = Type.Object({
  id: Type.Integer(),
  text: Type.String(),
  words: Type.Union([Type.Integer(), Type.Null()]),
  at: Type.String({ format: 'date-time' }),
});
const NewEntry = Type.Object({ text: Type.String({ minLength: 1, maxLength: 2_000 }) });

const shown = (entry: Entry) => ({ ...entry, at: timestamp(entry.at) });

export const entryRoutes = (entries: EntryBook): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/plugin-id',
    access: 'plugin-id:read',
    summary: 'List entries, newest first',
    items: Shown,
    handle: async ({ page }) => {
      const { items, ...rest } = await entries.page(page);
      return { ...rest, items: items.map(shown) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/plugin-id',
    access: 'plugin-id:write',
    summary: 'Add an entry',
    body: NewEntry,
    response: Shown,
    status: 201,
    errors: ['conflict'],
    handle: async ({ body, note }) => {
      const entry = await entries.add(body.text);
      note({
        resourceType: 'plugin-id entry',
        resourceId: entry.id,
      });
      return shown(entry);
    },
  }),
];
