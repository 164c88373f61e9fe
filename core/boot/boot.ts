import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Bundler, PluginHost, PluginSources } from '../host/index.ts';
import type { Registry } from '../registry/index.ts';
import {
  type Clock,
  type FolderWatcher,
  type Ids,
  type PointDeclaration,
  timestamp,
} from '../sdk/index.ts';
import type { DiskLimits, Safeguard } from '../storage/index.ts';
import type { HttpServer } from '../http/index.ts';
import { type Base, openBase } from './base.ts';
import { forgetOldKeys } from './change-port.ts';
import type { NodePort } from './node-port.ts';
import {
  type Data,
  type Hosting,
  type ListenAddress,
  listenAddress,
  openData,
  openHost,
  openHttp,
  publishCore,
} from './parts.ts';
import { pluginSources, type Product } from './settings/product.ts';
import { coreSettings } from './settings/core-settings.ts';
import { bootSettings } from './settings/read-settings.ts';
import { replaceFile } from './settings/replace-file.ts';
import { ajvSchemas } from './settings/schemas.ts';
import type { Environment } from './settings/settings.ts';
import { sharedModules } from './shared-modules.ts';
import { every, TakeDown } from './take-down.ts';
import { systemClock, systemIds } from './time.ts';

export interface BootOptions {
  readonly product: Product;
  readonly environment: Environment;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Gets finished log lines instead of standard output. */
  readonly writeLog?: (line: string) => void;
  /** Compares every reply with its schema. */
  readonly checkResponses?: boolean;
  /** Tells of changed files; without it folders are looked at when that is asked for. */
  readonly watch?: FolderWatcher['watch'];
  /** Plugins from elsewhere than the product and the data folder. */
  readonly sources?: PluginSources;
  /** Keeps the data of a data folder safe from migrations; without it they change what is there. */
  readonly safeguard?: (dataDir: string, databaseUrl: string | undefined) => Safeguard;
  /** Limits of free and reserved disk space. */
  readonly disk?: DiskLimits;
  /** Compiles plugins that come as source, with a cache in this folder; without it all must come prebuilt. */
  readonly bundler?: (cacheDir: string) => Bundler;
  /** Looks at what there is before the first plugin. */
  readonly beforePlugins?: (parts: Parts) => void;
  /** Command that runs the agent of the manager's own machine; if absent, none runs. */
  readonly agent?: readonly string[];
  /** Points of the program itself, besides those of core. */
  readonly points?: readonly PointDeclaration[];
  /** Returns what this process may do as one of several nodes; undefined if it is the only one. */
  readonly node?: (base: Base) => Promise<NodePort | undefined>;
}

export type Parts = Base &
  Data &
  Hosting & { readonly http: HttpServer; readonly node: NodePort | undefined };

/** Core and its plugins, serving. */
export interface RunningCore {
  readonly url: string;
  readonly dataDir: string;
  readonly operatorToken: string;
  readonly registry: Registry;
  readonly host: PluginHost;
  /** Parts that plugins add to and must leave as they were, for the census. */
  readonly parts: Parts;
  /** Stops accepting work, finishes what runs, and closes everything in reverse order. */
  stop(reason: string): Promise<void>;
}

const watchAfterMs = 250;
const minute = 60_000;
const day = 24 * 60 * minute;

/** Brings svc up, from the settings to the open port; when a step fails, what was built is taken down again. */
export async function boot(options: BootOptions): Promise<RunningCore> {
  const takeDown = new TakeDown();
  try {
    const began = Date.now();
    const { parts, address } = await build(options, takeDown);
    const { clock, dataDir, registry, host, http, logs, storage, operator } = parts;
    options.beforePlugins?.(parts);
    performance.mark('boot: host');
    await host.start();
    performance.mark('boot: plugins');
    parts.node?.beforeListen();
    address.port = await http.listen(address.hostname, address.port);
    address.listening = true;
    performance.mark('boot: listen');
    const log = logs.logger('boot');
    const runFile = join(dataDir, 'run.json');
    const run = { pid: process.pid, url: address.url, started_at: timestamp(clock.now()) };
    const announce = (): boolean => {
      try {
        storage.announce(address.url);
        replaceFile(runFile, JSON.stringify(run));
        return true;
      } catch (error) {
        log.warn(
          { event: 'boot.not_announced', error },
          'failed to write the address that commands connect to',
        );
        return false;
      }
    };
    takeDown.add(() => rmSync(runFile, { force: true }));
    takeDown.add(every(1_000, 'retrying plugins', retrying(parts, announce), log));
    const forget = () => forgetOldKeys(storage, clock.now() - day);
    takeDown.add(every(60 * minute, 'forgetting old idempotency keys', forget, log));
    watchPlugins(options, parts, began, takeDown);
    return {
      url: address.url,
      dataDir,
      operatorToken: operator.token,
      registry,
      host,
      parts,
      stop(reason) {
        log.info({ reason }, 'stopping');
        return takeDown.run().finally(() => logs.flush());
      },
    };
  } catch (error) {
    await takeDown.run();
    throw error;
  }
}

/** Returns where svc keeps its data and listens, and all that settings say; nothing is written. */
export function placesOf({ product, environment, sources }: BootOptions): {
  readonly dataDir: string;
  readonly address: ListenAddress;
  readonly settings: Base['settings'];
} {
  const { settings, dataDir } = bootSettings(product, environment, {
    schemas: ajvSchemas,
    ...(sources && { sources }),
  });
  return { dataDir, settings, address: listenAddress(settings.get<string>('http.addr')) };
}

/** Builds every part of core, each over those before it; no plugin is up yet and no port is open. */
async function build(options: BootOptions, takeDown: TakeDown) {
  const { product, clock = systemClock, ids = systemIds(clock), checkResponses = false } = options;
  const base = openBase(
    { ...options, clock, ids, schemas: ajvSchemas, shared: sharedModules },
    'manager',
    coreSettings,
  );
  performance.mark('boot: settings and manifests');
  const sources = options.sources ?? pluginSources(product, base.dataDir);
  const node = await options.node?.(base);
  const data = await openData(base, { ...options, sources, node }, takeDown);
  performance.mark('boot: storage');
  const hosting = openHost({ ...base, ...data, sources, node }, takeDown);
  const http = openHttp({ ...base, ...data, ...hosting, node, checkResponses }, takeDown);
  const parts: Parts = { ...base, ...data, ...hosting, http, node };
  const address = listenAddress(base.settings.get<string>('http.addr'));
  const { watch, agent = [], points = [] } = options;
  publishCore({ ...parts, watch, address, agent, points });
  return { parts, address };
}

/** Retries plugins that are down: each in its time; all of them, and the announcement, once the disk takes writes again. */
function retrying({ host, storage }: Parts, announce: () => boolean): () => Promise<void> {
  let good = announce();
  return async () => {
    const was = good;
    good = storage.writable() === undefined;
    const all = good && !was;
    void (all && announce());
    await host.retry({ all });
  };
}

/**
 * Watches plugins after the first requests, since examining each file takes a while: changes after
 * `since` are noticed all the same.
 */
function watchPlugins(
  { product, watch }: BootOptions,
  { dataDir, host, logs }: Parts,
  since: number,
  takeDown: TakeDown,
): void {
  if (!watch) {
    return;
  }
  const log = logs.logger('host');
  const roots = [join(product.root, 'plugins'), join(dataDir, 'packs')];
  const later = setTimeout(() => {
    const { ready, close } = watch({ roots, since, log, onChange: (paths) => host.refresh(paths) });
    takeDown.add(close);
    ready
      .then(() => host.refresh(new Set()))
      .catch((error: unknown) =>
        log.error(
          { event: 'host.start_look_failed', error },
          'failed to check for plugins that changed during startup',
        ),
      );
  }, watchAfterMs);
  takeDown.add(() => clearTimeout(later));
}
