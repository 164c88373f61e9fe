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
import { openBook } from './open-book.ts';
import { packRoutes } from './pack-routes.ts';
import { errors as pressErrors } from './press/errors.ts';
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
    pressErrors,
    registryErrors,
    markdownErrors,
  ],
  async activate(ctx) {
    const { log, settings, scope } = ctx;
    const { book, installer, switcher, installed, registries, leftovers } = await openBook(ctx);
    const followed = new FollowedFolders(book, log);
    scope.interval('follow linked folders', followMs, (signal) => followed.look(signal));
    ctx.extend.contribute(Ceilings, 'marketplace', installed);
    ctx.extend.contribute(PersonaRestraints, 'marketplace', installed);
    ctx.extend.contribute(ServerSources, 'marketplace', installed);
    settings.watch(
      'marketplace.blocked_hashes',
      () =>
        void scope.task('disable packs that are blocked by hash', (signal) => book.isolate(signal)),
    );
    ctx.http.routes([...registryRoutes(registries, installed), ...packRoutes(book)]);
    scope.interval('clean up after packs', minuteMs, () => leftovers.cleanAgain());
    scope.interval('read registries again', hourMs, (signal) => registries.refreshAll(signal));
    return { book, installer, switcher, installed };
  },
  start({ scope, log }, { book, installer, switcher, installed }) {
    // First in the row of changes: what a kill has left is put in order before anything else is changed.
    const recovering = installer.inTurn(() =>
      switcher.recover(
        new Map(
          installed
            .list()
            .map(({ packId, before }) => [
              packId,
              before === undefined ? [] : [before.content_hash],
            ]),
        ),
      ),
    );
    scope.task('recover interrupted changes, and rescan packs with new rules', async (signal) => {
      try {
        await recovering;
        await book.isolate(signal);
        await book.rescan(signal);
      } catch (error) {
        log.error(
          { event: 'marketplace.not_recovered', cause: messageOf(error) },
          'recovering interrupted pack changes failed',
        );
      }
    });
  },
});
