import {
  listRoute,
  pageOfList,
  route,
  type RouteDeclaration,
  type Tables,
  timestamp,
} from 'svc/sdk';
import { Type } from 'typebox';

import type { KnowledgeTables } from '../documents/tables.ts';
import { errors } from './errors.ts';
import { GapStore } from './gap-store.ts';
import type { SearchLog } from './search-log.ts';

const path = '/api/v1/knowledge/gaps';

const Shown = Type.Object({
  id: Type.Integer(),
  question: Type.String(),
  found_nothing: Type.Integer({ description: 'Searches that found no document' }),
  not_opened: Type.Integer({ description: 'Searches whose results were not opened' }),
  last_at: Type.String({ format: 'date-time' }),
});

export const gapRoutes = (
  log: SearchLog,
  tables: Tables<KnowledgeTables>,
): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'knowledge:create',
    devices: 'narrowed',
    // Agents and the investigator search with the words of alerts.
    reads: ['knowledge', 'alert'],
    summary: 'List searches that found nothing or were not opened, most frequent first',
    description:
      'Shows searches by users who see no more than you do. Searches by agents and plugins are listed only if they found nothing.',
    query: Type.Object({
      kind: Type.Optional(Type.Enum(['found_nothing', 'not_opened'])),
    }),
    items: Shown,
    async handle({ query: { kind }, page, principal }) {
      await log.settle();
      const rows = (await new GapStore(tables.read).all(principal)).filter(
        (row) => kind === undefined || row[kind] > 0,
      );
      const placed = rows.map((row, place) => ({ row, place: String(place).padStart(6, '0') }));
      const { items, ...rest } = pageOfList(placed, ({ place }) => place, page);
      return {
        ...rest,
        items: items.map(({ row: { id, question, found_nothing, not_opened, last_at } }) => ({
          id,
          question,
          found_nothing,
          not_opened,
          last_at: timestamp(last_at),
        })),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'knowledge:create',
    devices: 'narrowed',
    summary: 'Delete a search from the list, such as one that a document now answers',
    params: Type.Object({
      id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    errors: ['not_found'],
    async handle({ params: { id }, principal, note }) {
      await tables.write(async (tx) => {
        const store = new GapStore(tx);
        const gap = await store.find(id, principal);
        if (gap === undefined) {
          throw errors.no_gap({ id });
        }
        note({ resourceType: 'knowledge gap', resourceId: id, before: { question: gap.question } });
        await store.remove(id);
      });
    },
  }),
];
