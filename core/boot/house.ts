import { join } from 'node:path';

import { type PluginHost, type PluginSources, watchFolders } from '../host/index.ts';
import { catalogueOf, coreRoutes, routeKey } from '../http/index.ts';
import { HealthChecks } from '../observe/index.ts';
import type { Registry } from '../registry/index.ts';
import { Banner, type BannerLine, Board, BuildInfo, Catalogue, type Clock, Health, type Ids, Keys, Plugins, Self, timestamp } from '../sdk/index.ts';
import type { Safeguard } from '../storage/index.ts';
import { census, type Census } from './census.ts';
import { forgetOldKeys } from './changes.ts';
import { coreDraft, coreService } from './core-draft.ts';
import { type Foundation, layFoundation } from './foundation.ts';
import { furnish, type Interior } from './interior.ts';
import { pluginSources, type Product } from './product.ts';
import { readiness } from './readiness.ts';
import { ajvSchemas } from './settings/schemas.ts';
import { sharedModules } from './shared-modules.ts';
import { removeRunFile, writeRunFile } from './run-file.ts';
import type { Environment } from './settings/settings.ts';
import { standIns } from './synthetic.ts';
import { TakeDown } from './take-down.ts';
import { every } from './ticker.ts';
import { systemClock, systemIds } from './time.ts';

export interface HouseOptions {
  readonly product: Product;
  readonly environment: Environment;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Gets finished log lines instead of standard output. */
  readonly writeLog?: (line: string) => void;
  /** Compares every reply with its schema. */
  readonly checkResponses?: boolean;
  /** Look at the folders without being asked; default true. */
  readonly watch?: boolean;
  /** Plugins from elsewhere than the product and the data folder. */
  readonly sources?: PluginSources;
  /** Services of nobody in particular: how a test stands in for plugins that it leaves out. */
  readonly stands?: ReadonlyMap<string, object>;
  /** Keeps the data of a data folder safe from migrations; without it they change what is there. */
  readonly safeguard?: (dataDir: string) => Safeguard;
  /** What runs the agent of the manager's own machine; none runs without. */
  readonly agent?: readonly string[];
}

/** A house that serves. */
export interface House {
  readonly url: string;
  readonly dataDir: string;
  readonly operatorToken: string;
  readonly registry: Registry;
  readonly host: PluginHost;
  /** What is alive in the house at this moment, by kind: what a plugin must leave as it found it. */
  census(): Census;
  /** The same before the first plugin was brought up. */
  readonly emptyCensus: Census;
  /** What plugins want to tell whoever starts the process. */
  readonly bannerLines: readonly string[];
  /** Takes no more work, finishes what runs, and closes the rooms in reverse order. */
  stop(reason: string): Promise<void>;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** Builds the house from the ground up; when a step fails, what was built is taken down again. */
export async function startHouse(options: HouseOptions): Promise<House> {
  const { product, environment, clock = systemClock, ids = systemIds(clock), writeLog, checkResponses = false, watch = true } = options;
  const takeDown = new TakeDown();
  try {
    const { safeguard } = options;
    const ground = { schemas: ajvSchemas, shared: sharedModules, product, environment, clock, ids, writeLog, sources: options.sources };
    const foundation = await layFoundation({ ...ground, safeguard }, takeDown);
    const { dataDir, registry, operator, logs } = foundation;
    const interior = furnish(foundation, { sources: options.sources ?? pluginSources(product, dataDir), watch, checkResponses }, takeDown);
    const count = (): Census => census({ ...foundation, ...interior });

    const address = addressOf(foundation.settings.get<string>('http.addr'));
    publishCore(foundation, interior, address, options.agent ?? []);
    if (options.stands) {
      registry.publish({ add: [standIns(options.stands)] });
    }
    if (watch) {
      // Before they are read: what changes in between is seen.
      await watchPlugins(foundation, interior.host, takeDown);
    }
    const emptyCensus = count();
    await interior.host.start();
    await interior.outboxes.start();
    address.port = await interior.http.listen(address.hostname, address.port);
    address.listening = true;
    open(foundation, interior.host, address.url, takeDown);

    let stopping: Promise<void> | undefined;
    return {
      url: address.url,
      dataDir,
      operatorToken: operator.token,
      registry,
      host: interior.host,
      census: count,
      emptyCensus,
      bannerLines: bannerLines(registry, address.url),
      stop(reason) {
        logs.logger('boot').info({ reason }, 'stopping');
        stopping ??= takeDown.run().finally(() => logs.flush());
        return stopping;
      },
    };
  } catch (error) {
    await takeDown.run();
    throw error;
  }
}

async function watchPlugins({ product, dataDir, logs }: Foundation, host: PluginHost, takeDown: TakeDown): Promise<void> {
  const roots = [join(product.root, 'plugins'), join(dataDir, 'packs')];
  const { ready, close } = watchFolders({ roots, log: logs.logger('host'), onChange: (paths) => host.refresh(paths) });
  takeDown.add(close);
  await ready;
}

/** What core itself offers to plugins and callers. */
function publishCore(
  { product, clock, settings, metrics, observers, storage, registry }: Foundation,
  { host }: Interior,
  address: Address,
  agent: readonly string[],
): void {
  const health = new HealthChecks({ checks: () => [...registry.seen.checks.values()].map(({ value }) => value), clock });
  const routes = coreRoutes({ readiness: () => readiness({ host, storage, health }), metrics: () => metrics.text() });
  const draft = coreDraft(
    [
      coreService(Plugins, host),
      coreService(Board, settings),
      coreService(Keys, storage.keys),
      coreService(Catalogue, catalogueOf(registry)),
      coreService(BuildInfo, {
        version: product.version,
        root: product.root,
        node: process.version,
        startedAt: clock.now(),
        get publicUrl() {
          return settings.get<string>('http.public_url') || address.url;
        },
        get ownUrl() {
          return address.listening ? address.url : '';
        },
        agent,
      }),
      coreService(Health, { check: () => health.ask() }),
      coreService(Self, {
        gather: () => metrics.samples(),
        onLine: (listener) => observers.onLine(listener),
        onRequest: (listener) => observers.onRequest(listener),
        unobserved: (work) => observers.unobserved(work),
      }),
    ],
    new Map(routes.map((declaration) => [routeKey(declaration), declaration])),
  );
  registry.publish({ add: [draft] });
}

/** The doors are open: tells where, and begins the regular work. */
function open({ dataDir, clock, storage, logs }: Foundation, host: PluginHost, url: string, takeDown: TakeDown): void {
  storage.announce(url);
  writeRunFile(dataDir, url, timestamp(clock.now()));
  takeDown.add(() => removeRunFile(dataDir));
  const log = logs.logger('boot');
  takeDown.add(every(5_000, 'retrying quarantined plugins', () => host.retryQuarantined(), log));
  takeDown.add(every(60 * minute, 'forgetting old idempotency keys', () => forgetOldKeys(storage, clock.now() - day), log));
}

const bannerLines = (registry: Registry, url: string): readonly string[] =>
  [...registry.current.contributions.values()]
    .filter(({ value }) => value.point === Banner.id)
    .flatMap(({ value }) => (value.value as BannerLine).line(url) ?? []);

type Address = ReturnType<typeof addressOf>;

/** `host:port`, with brackets around an IPv6 address; the port becomes the bound one. */
function addressOf(address: string) {
  const split = address.lastIndexOf(':');
  return {
    hostname: address.slice(0, split).replace(/^\[|\]$/g, ''),
    port: Number(address.slice(split + 1)),
    listening: false,
    get url() {
      return `http://${this.hostname.includes(':') ? `[${this.hostname}]` : this.hostname}:${this.port}`;
    },
  };
}
