import { join, resolve } from 'node:path';

import { Ceilings } from 'svc/contracts/gate';
import { type GonePack, PackTraces } from 'svc/contracts/marketplace';
import { ServerSources } from 'svc/contracts/mcp';
import { PackRights } from 'svc/contracts/packs';
import { PersonaRestraints } from 'svc/contracts/persona';
import { Board, BuildInfo, Catalogue, definePlugin, messageOf, Plugins } from 'svc/sdk';
import { markdownErrors } from 'svc/markdown-file';

import { errors } from './errors.ts';
import { Consent } from './install/consent.ts';
import { FollowedFolders } from './install/followed-folders.ts';
import { InstalledPacks } from './install/installed-packs.ts';
import { Installer } from './install/installer.ts';
import { Leftovers } from './install/leftovers.ts';
import { PackBook } from './install/pack-book.ts';
import { packRoutes } from './pack-routes.ts';
import { PackStore } from './install/pack-store.ts';
import { Quarantine } from './install/quarantine.ts';
import { Registries } from './registry/registries.ts';
import { RegistryStore } from './registry/registry-store.ts';
import { registryRoutes } from './registry-routes.ts';
import { Sources } from './install/sources.ts';
import { Switcher } from './install/switcher.ts';
import type { PackTables } from './install/tables.ts';
import type { RegistryTables } from './registry/tables.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const followMs = 1_000;

export default definePlugin({
  errors: [errors, markdownErrors],
  async activate(ctx) {
    const { clock, ids, log, settings, scope } = ctx;
    const plugins = ctx.services.use(Plugins);
    const rights = ctx.services.maybe(PackRights);
    const fetch: typeof ctx.fetch = (url, request) => ctx.fetch(url, request);
    const data = resolve(ctx.dataDir, '..');
    const press = ctx.threads.start('press', 'press-worker.ts', undefined, {
      heapMb: 512,
      idleMs: 5 * 60_000,
    });

    const store = new PackStore(ctx.db<PackTables>());
    const installed = new InstalledPacks();
    (await store.all()).forEach((pack) => installed.put(pack));
    const registries = new Registries({
      store: new RegistryStore(ctx.db<RegistryTables>()),
      shipped: join(ctx.services.use(BuildInfo).root, 'marketplace'),
      fetch,
      clock,
      log,
    });
    const sources = new Sources(fetch, registries, resolve(data, '..'));
    const traces = ctx.extend.open(PackTraces);
    const forget = async (pack: GonePack): Promise<void> => {
      for (const { value } of traces.list()) {
        await value.forget(pack);
      }
    };
    const leftovers = new Leftovers({
      store,
      data,
      kept: join(ctx.dataDir, 'kept'),
      forget,
      behind: (label, work) => void scope.task(label, work),
      log,
    });
    const switcher = new Switcher({
      store,
      plugins,
      leftovers,
      packs: join(data, '../packs'),
      home: ctx.dataDir,
      self: ctx.id,
      log,
    });
    const catalogue = ctx.services.use(Catalogue);
    const quarantine = new Quarantine(settings);
    const consent = new Consent({ rights, settings, quarantine });
    const installer = new Installer({
      consent,
      quarantine,
      data,
      installed,
      store,
      switcher,
      leftovers,
      press,
      plugins,
      catalogue,
      board: ctx.services.use(Board),
      rights,
      settings,
      clock,
      ids,
      log,
    });
    const book = new PackBook({
      quarantine,
      registries,
      installed,
      installer,
      leftovers,
      sources,
      store,
      switcher,
      plugins,
      press,
      data,
      log,
    });

    const followed = new FollowedFolders(book, log);
    scope.interval('follow linked folders', followMs, (signal) => followed.look(signal));
    ctx.extend.contribute(Ceilings, 'marketplace', installed);
    ctx.extend.contribute(PersonaRestraints, 'marketplace', installed);
    ctx.extend.contribute(ServerSources, 'marketplace', installed);
    settings.watch(
      'marketplace.blocked_hashes',
      () => void scope.task('switch off what is blocked by hash', (signal) => book.isolate(signal)),
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
    scope.task(
      'put in order what was cut off, and look at packs with new rules',
      async (signal) => {
        try {
          await recovering;
          await book.isolate(signal);
          await book.rescan(signal);
        } catch (error) {
          log.error(
            { event: 'marketplace.not_recovered', cause: messageOf(error) },
            'changes of packs that were cut off could not be put in order',
          );
        }
      },
    );
  },
});
