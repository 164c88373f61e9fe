import { type Clock, type Principal, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import type { SavedViewRow } from './store/tables.ts';
import type { viewStore } from './store/view-store.ts';

const path = '/api/v1/devices/views';
const mostViews = 100;

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: 80,
    pattern: '\\S',
    examples: ['Databases in production'],
  }),
  query: Type.String({
    maxLength: 2_000,
    pattern: '^[^#?\\s]*$',
    examples: ['q=role%3Adb+env%3Dprod&sort=-cpu'],
    description: 'Query of the page Devices of the console: search, order, columns and view',
  }),
};

const View = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  ...fields,
  updated_at: Type.String({ format: 'date-time' }),
});

/** Views of the fleet, which people save for themselves: those of others do not exist for them. */
export const viewRoutes = (
  views: ReturnType<typeof viewStore>,
  clock: Clock,
): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path,
    access: 'any',
    devices: 'none',
    summary: 'List your saved views of the devices, by name',
    response: Type.Object({ views: Type.Array(View) }),
    async handle({ principal }) {
      return { views: (await views.of(ownerOf(principal))).map(shown) };
    },
  }),
  route({
    method: 'POST',
    path,
    access: 'any',
    devices: 'none',
    audited: false,
    summary: 'Save a view of the devices; your view of the same name is replaced',
    body: Type.Object(fields),
    response: View,
    errors: ['conflict'],
    async handle({ principal, body: { name, query } }) {
      const owner = ownerOf(principal);
      const view = { owner, name: name.trim(), query, updated_at: Math.floor(clock.now()) };
      const saved = await views.save(view, mostViews);
      if (saved === undefined) {
        throw errors.too_many_views({ max: mostViews });
      }
      return shown(saved);
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'none',
    audited: false,
    summary: 'Delete one of your saved views',
    params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    errors: ['not_found'],
    async handle({ principal, params: { id } }) {
      if (!(await views.remove(ownerOf(principal), id))) {
        throw errors.no_view({ id });
      }
    },
  }),
];

const shown = ({ id, name, query, updated_at: at }: SavedViewRow) => ({
  id,
  name,
  query,
  updated_at: timestamp(at),
});

const ownerOf = ({ kind, id }: Principal): string => `${kind} ${id}`;
