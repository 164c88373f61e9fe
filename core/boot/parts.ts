import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createOperatorToken, OperatorAuthenticator, type OperatorToken } from '../auth/index.ts';
import { packPoints, PluginHost, type PluginSources, thrownBy } from '../host/index.ts';
import { catalogueOf, coreRoutes, type HttpOptions, HttpServer, routeKey } from '../http/index.ts';
import { Threads } from '../isolate/index.ts';
import { redactText, SelfMetrics } from '../observe/index.ts';
import {
  AuditTrail,
  Banner,
  Board,
  BuildInfo,
  Catalogue,
  EarlierOutbox,
  type FolderWatcher,
  Folders,
  Health,
  Keys,
  Outgoing,
  Plugins,
  type PointDeclaration,
  Points,
  Self,
} from '../sdk/index.ts';
import {
  type DiskLimits,
  earlierOutbox,
  openStorage,
  type Safeguard,
  type Storage,
  writeDurably,
} from '../storage/index.ts';
import { type Base, healthOf, type HostParts, openHostParts } from './base.ts';
import { changePort } from './change-port.ts';
import { coreDraft, coreService, readiness } from './core-plugin.ts';
import { errors } from './errors.ts';
import type { NodePort } from './node-port.ts';
import { firstTables } from './first-tables.ts';
import { hostPorts } from './lent.ts';
import { startThread } from './product-thread.ts';
import { installation } from './settings/product.ts';
import type { TakeDown } from './take-down.ts';

const stopGraceMs = 10_000;

/** Data services of a manager, with its metrics. */
export interface Data {
  readonly metrics: SelfMetrics;
  readonly storage: Storage;
  readonly operator: OperatorToken;
}

interface DataOptions {
  readonly sources: PluginSources;
  readonly safeguard?: (dataDir: string, databaseUrl: string | undefined) => Safeguard;
  readonly disk?: DiskLimits;
  readonly node?: NodePort | undefined;
}

export async function openData(
  base: Base,
  { sources, safeguard, disk = {}, node }: DataOptions,
  takeDown: TakeDown,
): Promise<Data> {
  const { product, clock, ids, settings, dataDir, logs } = base;
  const secretKey = settings.get<string>('data.secret_key');
  const databaseUrl = settings.get<string>('data.database_url');
  const storage = await openStorage({
    dataDir,
    appVersion: product.version,
    clock,
    log: logs.logger('storage'),
    startWriter: (workerData) => startThread(product, writerEntry(), workerData),
    safeguard: safeguard?.(dataDir, databaseUrl === '' ? undefined : databaseUrl),
    databaseUrl,
    tenure: node?.tenure,
    beginnings: () => firstTables(base, sources),
    disk,
    ...(product.embedded && { nativeBinding: product.embedded.nativeBinding }),
    ...(secretKey !== '' && { secretKeys: secretKey.split(/[\s,]+/) }),
  });
  takeDown.add(() => storage.close());
  const metrics = new SelfMetrics({ version: product.version });
  takeDown.add(() => metrics.close());
  return {
    metrics,
    storage,
    operator: createOperatorToken(join(dataDir, 'keys'), ids, writeDurably),
  };
}

export interface Hosting extends HostParts {
  readonly host: PluginHost;
  readonly threads: Threads;
  readonly strike: PluginHost['strike'];
}

interface OfNode {
  readonly node: NodePort | undefined;
}

/** The host with everything that it lends to plugins; none of them is up yet. */
export function openHost(
  parts: Base & Data & OfNode & { readonly sources: PluginSources },
  takeDown: TakeDown,
): Hosting {
  const { metrics } = parts;
  const strike: PluginHost['strike'] = (owner, label, error) => {
    metrics.core.pluginStrikes.add(1, { plugin: (thrownBy(error) ?? owner).pluginId });
    host.strike(owner, label, error);
  };
  const accounts = { strike, dropped: metrics.core.eventsDropped };
  const shared = openHostParts(parts, accounts, takeDown, parts.node?.assertOwner);
  const threads = pluginThreads(parts);
  const host: PluginHost = new PluginHost(hostPorts({ ...parts, ...shared, threads }));
  takeDown.add(() => host.close());
  return { ...shared, host, threads, strike };
}

/** The HTTP server; it does not listen yet. */
export function openHttp(
  parts: Base & Data & Hosting & OfNode & { readonly checkResponses: boolean },
  takeDown: TakeDown,
): HttpServer {
  const {
    clock,
    ids,
    settings,
    logs,
    metrics,
    observers,
    storage,
    operator,
    registry,
    host,
    strike,
    node,
    checkResponses,
  } = parts;
  const http = new HttpServer({
    registry,
    clock,
    ids,
    log: logs.logger('http'),
    cursorKey: storage.derivedKey('http'),
    operator: new OperatorAuthenticator(operator.token),
    changes: changePort(storage),
    limits: { connectionsPerAddress: settings.get<number>('http.connections_per_address') },
    trustedProxies: settings.get<string[]>('http.trusted_proxies'),
    publicUrl: settings.get<string>('http.public_url'),
    tls: tlsOptions(settings),
    strike,
    hideSecrets: redactText,
    gate: node?.gate,
    absentTrail: () => absentProvider(host, AuditTrail.id),
    checkResponses,
    observe(route, status, ms, { requestId, method, plugin, traceparent }) {
      metrics.core.httpRequests.add(1, { method, route, status: String(status) });
      metrics.core.httpSeconds.observe(ms / 1000, { method, route });
      if (observers.wantsRequests) {
        observers.request({
          requestId,
          route,
          method,
          plugin,
          status,
          startedAt: clock.now() - ms,
          durationMs: ms,
          traceparent,
        });
      }
    },
  });
  takeDown.add(() => (http.listening ? http.close(stopGraceMs) : undefined));
  return http;
}

/**
 * Returns why an installed provider of a service is down; undefined if there is none, or an
 * operator disabled it.
 */
function absentProvider(host: PluginHost, service: string): string | undefined {
  const down = host
    .list()
    .find(
      ({ provides, state }) =>
        !['active', 'disabled'].includes(state) &&
        provides.some((offer) => offer.startsWith(`${service} `)),
    );
  return down && `"${down.id}", which writes the audit log, is ${down.state}`;
}

interface Published extends Base, Data, Hosting, OfNode {
  /** Watcher of folders; if absent, none is watched. */
  readonly watch: FolderWatcher['watch'] | undefined;
  readonly address: ListenAddress;
  readonly agent: readonly string[];
  /** Points of the program that runs core. */
  readonly points: readonly PointDeclaration[];
}

/** Publishes what core itself offers to plugins and callers. */
export function publishCore({
  product,
  clock,
  settings,
  metrics,
  observers,
  storage,
  registry,
  schemas,
  host,
  outbound,
  watch = watchNothing,
  address,
  agent,
  points,
  node,
}: Published): void {
  const health = healthOf({ registry, clock });
  const routes = coreRoutes({
    readiness: async () => [
      ...(await readiness({ host, storage, health })),
      ...(node ? [node.readiness()] : []),
    ],
    metrics: () => metrics.text(),
  });
  const services = [
    ...(node?.services ?? []),
    coreService(Plugins, host),
    coreService(Board, settings),
    coreService(Keys, storage.keys),
    coreService(Catalogue, catalogueOf(registry)),
    coreService(
      Points,
      packPoints(registry, schemas, (point, id) => host.keeperOf(point, id)),
    ),
    coreService(Folders, { watch }),
    coreService(Outgoing, { addressOf: async (host) => await outbound.addressOf(host) }),
    coreService(EarlierOutbox, earlierOutbox(storage.core())),
    coreService(BuildInfo, {
      version: product.version,
      root: product.root,
      beside: product.beside ?? [],
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
  ];
  registry.publish({
    add: [
      coreDraft(
        services,
        new Map(routes.map((declaration) => [routeKey(declaration), declaration])),
        [Banner, ...points],
      ),
    ],
  });
}

const watchNothing: FolderWatcher['watch'] = () => ({
  ready: Promise.resolve(),
  close: () => Promise.resolve(),
});

export type ListenAddress = ReturnType<typeof listenAddress>;

/** The settings of TLS go together. */
export function tlsOptions(settings: Pick<Base['settings'], 'get'>): HttpOptions['tls'] {
  const [place, cert, key] = ['http.tls_addr', 'http.tls_cert', 'http.tls_key'].map((name) =>
    settings.get<string>(name),
  ) as [string, string, string];
  const given = [place, cert, key].filter((value) => value !== '').length;
  if (given % 3 !== 0) {
    throw errors.tls_in_part();
  }
  const { hostname, port } = listenAddress(place);
  return given === 0 ? undefined : { host: hostname, port, cert, key };
}

/** `host:port`, with brackets around an IPv6 address; the port becomes the bound one. */
export function listenAddress(address: string) {
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

const writerEntry = (): string =>
  fileURLToPath(new URL('../storage/sqlite/writer-worker.ts', import.meta.url));

/** The threads of plugins, which find the database's package in this installation or in the single binary. */
export function pluginThreads({
  product: { thread, embedded },
  clock,
  bundler,
}: Pick<Base, 'product' | 'clock' | 'bundler'>): Threads {
  const mapped = (stack: string): string => bundler?.mapped(stack) ?? stack;
  if (!embedded) {
    return new Threads({ clock, mapped, packagesFrom: join(installation, 'package.json') });
  }
  const text = thread?.('better-sqlite3');
  if (text === undefined) {
    throw errors.no_sqlite_for_threads();
  }
  return new Threads({
    clock,
    mapped,
    packagesFrom: '',
    sqlite: { text, nativeBinding: embedded.nativeBinding },
  });
}
