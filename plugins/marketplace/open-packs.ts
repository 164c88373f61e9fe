import { join, resolve } from 'node:path';

import { type GonePack, PackTraces } from 'svc/contracts/marketplace';
import { PackRights } from 'svc/contracts/packs';
import { Board, BuildInfo, Catalogue, type PluginContext, Plugins } from 'svc/sdk';

import { Arrivals } from './archive/arrivals.ts';
import { Consent } from './install/consent.ts';
import { InstalledPacks } from './install/installed-packs.ts';
import { Installer } from './install/installer.ts';
import { Leftovers } from './install/leftovers.ts';
import { PackService } from './install/pack-service.ts';
import { PackStore } from './install/pack-store.ts';
import { Quarantine } from './install/quarantine.ts';
import { Sources } from './install/sources.ts';
import { Switcher } from './install/switcher.ts';
import type { PackTables } from './install/tables.ts';
import { Registries } from './registry/registries.ts';
import { RegistryStore } from './registry/registry-store.ts';
import type { RegistryTables } from './registry/tables.ts';

/** Puts together all that may be done with packs. */
export async function openPacks(ctx: PluginContext) {
  const { clock, ids, log, settings, scope } = ctx;
  const plugins = ctx.services.use(Plugins);
  const rights = ctx.services.maybe(PackRights);
  const fetch: typeof ctx.fetch = (url, request) => ctx.fetch(url, request);
  const data = resolve(ctx.dataDir, '..');
  const normalizer = ctx.threads.start('normalize', 'normalize-worker.ts', undefined, {
    heapMb: 512,
    // What it has unpacked stays in memory until it ends.
    idleMs: 30_000,
  });

  const store = new PackStore(ctx.db<PackTables>());
  const installed = new InstalledPacks();
  (await store.all()).forEach((pack) => installed.put(pack));
  const registries = openRegistries(ctx, fetch);
  const arrivals = new Arrivals(join(ctx.dataDir, 'arrivals'), ids);
  const sources = new Sources(fetch, registries, arrivals, resolve(data, '..'));
  const leftovers = new Leftovers({
    store,
    data,
    kept: join(ctx.dataDir, 'kept'),
    forget: openTraces(ctx),
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
    normalizer,
    plugins,
    catalogue,
    board: ctx.services.use(Board),
    rights,
    settings,
    clock,
    ids,
    log,
  });
  const packService = new PackService({
    quarantine,
    registries,
    installed,
    installer,
    leftovers,
    sources,
    store,
    switcher,
    plugins,
    normalizer,
    data,
    log,
  });
  return { packService, installer, switcher, installed, registries, leftovers, arrivals };
}

const openRegistries = (ctx: PluginContext, fetch: PluginContext['fetch']): Registries =>
  new Registries({
    store: new RegistryStore(ctx.db<RegistryTables>()),
    shipped: join(ctx.services.use(BuildInfo).root, 'marketplace'),
    fetch,
    clock: ctx.clock,
    log: ctx.log,
  });

/**
 * Opens the list of areas that keep something about packs; returns a function that has each of them
 * delete one.
 */
function openTraces({ extend }: PluginContext): (pack: GonePack) => Promise<void> {
  const traces = extend.open(PackTraces);
  return async (pack) => {
    for (const { value } of traces.list()) {
      await value.forget(pack);
    }
  };
}
