import { join, resolve } from 'node:path';

import { CarriedFiles, DropInFiles } from 'svc/contracts/drop-ins';
import { markdownErrors } from 'svc/markdown-file';
import {
  BuildInfo,
  definePlugin,
  Folders,
  listRoute,
  pageOfList,
  type RouteDeclaration,
  timestamp,
} from 'svc/sdk';
import { Type } from 'typebox';

import { CarriedFileSet } from './carried-files.ts';
import { DropIns } from './drop-ins.ts';
import type { DropInRoot } from './scan.ts';

export default definePlugin({
  errors: markdownErrors,
  async activate(ctx) {
    const { root, beside } = ctx.services.use(BuildInfo);
    const rootsOf = (
      kind: DropInRoot['kind'],
      shipped: string,
      setting: string,
    ): readonly DropInRoot[] =>
      [
        ...new Set(
          [
            ...[root, ...beside].map((folder) => join(folder, shipped)),
            ...ctx.settings.get<string[]>(setting),
          ].map((path) => resolve(path)),
        ),
      ].map((path) => ({ kind, path }));
    const roots = [
      ...rootsOf('persona', 'agents', 'agents.external_dirs'),
      ...rootsOf('skill', 'skills', 'skills.external_dirs'),
    ];

    const carried = ctx.extend.open(CarriedFiles);
    const live = ctx.extend.live('files');
    const dropIns = new DropIns({
      roots,
      carried: new CarriedFileSet(() => carried.list()),
      live,
      clock: ctx.clock,
      log: ctx.log,
    });
    ctx.scope.defer('passes over the files', () => dropIns.close());
    const again = (): void => {
      dropIns
        .refresh()
        .catch((error: unknown) =>
          ctx.log.error(
            { event: 'dropins.not_settled', error },
            'failed to load persona and skill files; retrying at the next change',
          ),
        );
    };
    carried.onChange(again);
    live.onFree(again);
    const paths = roots.map(({ path }) => path);
    const { ready, close } = ctx.services.use(Folders).watch({
      roots: paths,
      onChange: (changed) => dropIns.refresh(changed),
      log: ctx.log,
    });
    ctx.scope.defer('watch persona and skill folders', close);
    await dropIns.load();
    // Nothing that serves waits for the watch to begin; what changed until then is found by looking again.
    ctx.scope.task('look again once the folders are watched', async () => {
      await ready;
      await dropIns.load();
    });
    ctx.services.provide(DropInFiles, () => dropIns);
    ctx.http.routes(dropInRoutes(dropIns));
  },
});

const Timestamp = Type.String({ format: 'date-time' });

const DropInFile = Type.Object({
  kind: Type.Union([Type.Literal('persona'), Type.Literal('skill')]),
  name: Type.String(),
  file: Type.String(),
  state: Type.Union([Type.Literal('ok'), Type.Literal('broken'), Type.Literal('stale')], {
    description: 'stale: the file is broken, and the last good version is in use',
  }),
  error: Type.Union([Type.String(), Type.Null()]),
  loaded_at: Type.Union([Timestamp, Type.Null()]),
  changed_at: Timestamp,
});

const dropInRoutes = (dropIns: DropIns): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/drop-ins',
    access: 'any',
    devices: 'none',
    summary: 'List persona and skill files and any problems with them',
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
