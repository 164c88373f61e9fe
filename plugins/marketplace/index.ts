import { Ceilings } from 'svc/contracts/gate';
import { ServerSources } from 'svc/contracts/mcp';
import { PersonaRestraints } from 'svc/contracts/persona';
import { markdownErrors } from 'svc/markdown-file';
import { definePlugin, messageOf } from 'svc/sdk';

import { errors as archiveErrors } from './archive/errors.ts';
import { errors } from './errors.ts';
import { errors as gitErrors } from './git/errors.ts';
import { errors as installErrors } from './install/errors.ts';
import { FollowedFolders } from './install/followed-folders.ts';
import { errors as layoutErrors } from './layout/errors.ts';
import { openPacks } from './open-packs.ts';
import { packRoutes } from './pack-routes.ts';
import { errors as normalizeErrors } from './normalize/errors.ts';
import { errors as registryErrors } from './registry/errors.ts';
import { registryRoutes } from './registry-routes.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const followMs = 1_000;

export default definePlugin({
  errors: [
    errors,
    archiveErrors,
    gitErrors,
    installErrors,
    layoutErrors,
    normalizeErrors,
    registryErrors,
    markdownErrors,
  ],
  async activate(ctx) {
    const { log, settings, scope } = ctx;
    const { packService, installer, switcher, installed, registries, leftovers, arrivals } =
      await openPacks(ctx);
    const followed = new FollowedFolders(packService, log);
    scope.interval('follow linked folders', followMs, (signal) => followed.look(signal));
    ctx.extend.contribute(Ceilings, 'marketplace', installed);
    ctx.extend.contribute(PersonaRestraints, 'marketplace', installed);
    ctx.extend.contribute(ServerSources, 'marketplace', installed);
    settings.watch(
      'marketplace.blocked_hashes',
      () =>
        void scope.task('disable packs that are blocked by hash', (signal) =>
          packService.isolate(signal),
        ),
    );
    ctx.http.routes([...registryRoutes(registries, installed), ...packRoutes(packService)]);
    scope.interval('clean up after packs', minuteMs, () => leftovers.cleanAgain());
    scope.interval('read registries again', hourMs, (signal) => registries.refreshAll(signal));
    return { packService, installer, switcher, installed, arrivals };
  },
  start({ scope, log, clock }, { packService, installer, switcher, installed, arrivals }) {
    // First in the row of changes: what a kill has left is put in order before anything else is changed.
    const recovering = installer.inTurn(() => switcher.recover(installed.list()));
    scope.task('recover interrupted changes, and rescan packs with new rules', async (signal) => {
      try {
        await recovering;
        await arrivals.tidy(clock.now());
        await packService.isolate(signal);
        await packService.rescan(signal);
      } catch (error) {
        log.error(
          { event: 'marketplace.not_recovered', cause: messageOf(error) },
          'failed to recover interrupted pack changes',
        );
      }
    });
  },
});
