import { resolve } from 'node:path';
import { isSea } from 'node:sea';

import { Gate } from 'svc/contracts/gate';
import { PackTraces } from 'svc/contracts/marketplace';
import { PackRights } from 'svc/contracts/packs';
import { Board, BuildInfo, definePlugin, PackLoader, Plugins, Points } from 'svc/sdk';

import { errors } from './errors.ts';
import { Loader } from './loader.ts';
import { type Confinement, findConfinement } from './process/confinement.ts';
import { errors as processErrors } from './process/errors.ts';
import { Acceptances } from './rights/acceptances.ts';
import { errors as rightsErrors } from './rights/errors.ts';
import { Granting } from './rights/granting.ts';
import type { Others } from './rights/limits.ts';
import { AcceptanceStore, type PacksTables } from './rights/store.ts';
import { packRoutes } from './routes.ts';
import { errors as tablesErrors } from './tables/errors.ts';
import { tablesProgram } from './tables/tables-program.ts';
import { errors as wireErrors } from './wire/errors.ts';

/** Time limit beyond the longest that a manifest may give a pack to finish its work. */
const leaveMs = 150_000;

export default definePlugin({
  errors: [errors, processErrors, rightsErrors, tablesErrors, wireErrors],
  async activate(ctx) {
    const { ids, scope } = ctx;
    const dataDir = resolve(ctx.dataDir, '../..');
    const { root } = ctx.services.use(BuildInfo);
    const closed = [dataDir, root];
    const cacheDir = resolve(dataDir, 'cache');
    const board = ctx.services.use(Board);
    const others: Others = {
      folders: closed,
      reads: (variable, packId) =>
        board
          .list()
          .some(
            ({ owner, declaration: { env } }) =>
              owner !== packId &&
              env !== undefined &&
              [env, `${env}_FILE`].some((name) => name === variable || name === `${variable}_FILE`),
          ),
    };
    const store = new AcceptanceStore(ctx.db<PacksTables>());
    const points = ctx.services.use(Points);
    const acceptances = new Acceptances(store, await store.all(), ctx.clock, others, points);
    let found: Promise<Confinement> | undefined;
    const confinement = (): Promise<Confinement> => (found ??= findConfinement(cacheDir));
    const loader = new Loader({
      confinement,
      acceptances,
      closed,
      gate: ctx.services.maybe(Gate),
      origin: {
        program: ctx.threads.text('pack-worker.ts'),
        cacheDir,
        isBinary: isSea(),
      },
      tables: {
        program: tablesProgram(ctx.threads.text('tables-worker.ts'), root, isSea()),
        cacheDir,
        isBinary: isSea(),
      },
      random: () => Buffer.from(ids.token(6), 'base64url').readUIntBE(0, 6) / 2 ** 48,
    });
    ctx.services.provide(PackLoader, () => loader);
    const granting = new Granting({
      acceptances,
      others,
      points,
      cacheDir,
      confinement,
      runs: (id) => loader.runs(id),
    });
    ctx.services.provide(PackRights, () => granting);
    ctx.extend.contribute(PackTraces, 'packs', { forget: ({ packId }) => granting.forget(packId) });
    ctx.http.routes(
      packRoutes(acceptances, ctx.services.use(Plugins), (id) => loader.processOf(id)),
    );
    scope.occupy(() => `${loader.size} processes of packs`, {
      begin: () => undefined,
      end: () => loader.leave(),
      endMs: leaveMs,
    });
  },
});
