import { listRoute, pageOfList, type RouteDeclaration, timestamp } from 'svc/sdk';
import { Type } from 'typebox';

import type { DropIns } from './drop-ins.ts';

const Timestamp = Type.String({ format: 'date-time' });

const DropInFile = Type.Object({
  kind: Type.Union([Type.Literal('persona'), Type.Literal('skill')]),
  name: Type.String(),
  file: Type.String(),
  state: Type.Union([Type.Literal('ok'), Type.Literal('broken'), Type.Literal('stale')], {
    description: 'stale: broken now, the last good version still serves',
  }),
  error: Type.Union([Type.String(), Type.Null()]),
  loaded_at: Type.Union([Timestamp, Type.Null()]),
  changed_at: Timestamp,
});

export const dropInRoutes = (dropIns: DropIns): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/drop-ins',
    access: 'any',
    summary: 'List persona and skill files with what is wrong with the broken ones',
    items: DropInFile,
    handle: ({ page }) =>
      pageOfList(
        dropIns.list().map(({ kind, name, file, state, error, loaded_at, changed_at }) => ({
          kind,
          name,
          file,
          state,
          error: error ?? null,
          loaded_at: loaded_at === undefined ? null : timestamp(loaded_at),
          changed_at: timestamp(changed_at),
        })),
        (item) => item.file,
        page,
      ),
  }),
];
