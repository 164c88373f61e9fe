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
    access: 'any',
    summary: 'Greet the caller',
    response: Greeting,
    handle: ({ principal }) => ({ message: `Hello ${principal.kind}`, at: timestamp(clock.now()) }),
  }),
];
