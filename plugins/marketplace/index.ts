import { join, resolve } from 'node:path';

import { Catalogue, defineExtensionPoint, definePlugin, defineService, messageOf, Plugins } from 'svc/sdk';

import type { CeilingSource } from '../gate/contract.ts';
import type { ServerSource } from '../mcp/contract.ts';
import type { PackRights } from '../packs/contract.ts';
import type { PersonaDirectory, PersonaRestraint } from '../persona/contract.ts';
import type { StoredSettings } from '../setting/contract.ts';
import { FollowedFolders } from './followed-folders.ts';
import { InstalledPacks } from './installed-packs.ts';
import { Installer } from './installer.ts';
import { PackBook } from './pack-book.ts';
import { packRoutes } from './pack-routes.ts';
import { PackStore } from './pack-store.ts';
import { Registries } from './registry/registries.ts';
import { RegistryStore } from './registry/registry-store.ts';
import { registryRoutes } from './registry-routes.ts';
import { Sources } from './sources.ts';
import { type GonePack, Switcher } from './switcher.ts';
import type { MarketplaceTables } from './tables.ts';

/** By their ids: the folders of what it can do without may be taken away. */
const Rights = defineService<PackRights>('packs.rights');
const Personas = defineService<PersonaDirectory>('persona.directory');
const Stored = defineService<StoredSettings>('setting.stored');
const Ceilings = defineExtensionPoint<CeilingSource>('gate.ceilings');
const Restraints = defineExtensionPoint<PersonaRestraint>('persona.restraints');
const Servers = defineExtensionPoint<ServerSource>('mcp.sources');

const hourMs = 3_600_000;
const forgetMs = 30_000;
const followMs = 1_000;

export default definePlugin({
  async activate(ctx) {
    const { clock, ids, log, settings, scope } = ctx;
    const tables = ctx.db<MarketplaceTables>();
    const plugins = ctx.services.use(Plugins);
    const rights = ctx.services.maybe(Rights);
    const fetch: typeof ctx.fetch = (url, request) => ctx.fetch(url, request);
    const data = resolve(ctx.dataDir, '..');
    const press = ctx.threads.start('press', 'press-worker.ts', undefined, { heapMb: 512, idleMs: 5 * 60_000 });

    const store = new PackStore(tables);
    const installed = new InstalledPacks();
    (await store.all()).forEach((pack) => installed.put(pack));
    const registries = new Registries({ store: new RegistryStore(tables), fetch, clock, log });
    const sources = new Sources(fetch, registries);
    const directory = ctx.services.maybe(Personas);
    const stored = ctx.services.maybe(Stored);
    const forget = async ({ packId, personas, keepData }: GonePack): Promise<void> => {
      await (rights.available && rights.get().forget(packId, AbortSignal.timeout(forgetMs)));
      await (directory.available && directory.get().forget(personas));
      await (stored.available && !keepData && stored.get().forgetCategory(packId));
    };
    const switcher = new Switcher({ store, plugins, packs: join(data, '../packs'), home: ctx.dataDir, data, self: ctx.id, forget, log });
    const installer = new Installer({ installed, store, switcher, press, plugins, catalogue: ctx.services.use(Catalogue), rights, settings, clock, ids, log });
    const book = new PackBook({ installed, installer, sources, store, switcher, plugins, press, data, log });

    const followed = new FollowedFolders(book, log);
    scope.interval('follow linked folders', followMs, (signal) => followed.look(signal));
    ctx.extend.contribute(Ceilings, 'marketplace', installed);
    ctx.extend.contribute(Restraints, 'marketplace', installed);
    ctx.extend.contribute(Servers, 'marketplace', installed);
    ctx.http.routes([...registryRoutes(registries, installed), ...packRoutes(book)]);
    scope.interval('read registries again', hourMs, (signal) => registries.refreshAll(signal));
    return { book, installer, switcher, installed };
  },
  start({ scope, log }, { book, installer, switcher, installed }) {
    // First in the row of changes: what a kill has left is put in order before anything else is changed.
    const recovering = installer.inTurn(() =>
      switcher.recover(new Map(installed.list().map(({ packId, before }) => [packId, before === undefined ? [] : [before.content_hash]]))),
    );
    scope.task('put in order what was cut off, and look at packs with new rules', async (signal) => {
      try {
        await recovering;
        await book.rescan(signal);
      } catch (error) {
        log.error({ event: 'marketplace.not_recovered', cause: messageOf(error) }, 'changes of packs that were cut off could not be put in order');
      }
    });
  },
});
