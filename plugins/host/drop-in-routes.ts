import { type DropInDirectory, listRoute, type RouteDeclaration, timestamp } from 'svc/sdk';

import { pageOf } from './page.ts';
import { DropInFile } from './schema.ts';

export const dropInRoutes = (dropIns: DropInDirectory): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/drop-ins',
    access: 'any',
    summary: 'List persona and skill files with what is wrong with the broken ones',
    items: DropInFile,
    handle: ({ page }) =>
      pageOf(
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
