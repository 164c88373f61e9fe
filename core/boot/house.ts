import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { container } from 'tsyringe';

import { createOperatorToken, operatorAuthenticator } from '../auth/index.ts';
import { createBus, createOutboxes } from '../events/index.ts';
import { PluginHost, type PluginSources } from '../host/index.ts';
import { coreRoutes, createHttpServer } from '../http/index.ts';
import { createHealth, createLogs, createSelfMetrics, type LogLevel, redactText } from '../observe/index.ts';
import { type Draft, type Generation, Registry } from '../registry/index.ts';
import { Banner, type BannerLine, type Clock, type Ids, type PluginDirectory, timestamp } from '../sdk/index.ts';
import { openStorage } from '../storage/index.ts';
import { bootSettings } from './boot-settings.ts';
import { catalogueOf } from './catalogue.ts';
import { census, type Census } from './census.ts';
import { changePort, forgetOldKeys } from './changes.ts';
import { coreDraft } from './core-draft.ts';
import { hostPorts } from './host-ports.ts';
import { liveFiles } from './live-files.ts';
import { memoryFile } from './memory-file.ts';
import { pluginSources, type Product } from './product.ts';
import { readiness } from './readiness.ts';
import { removeRunFile, writeRunFile } from './run-file.ts';
import type { Environment } from './settings.ts';
import { syntheticDraft } from './synthetic.ts';
import { every } from './ticker.ts';
import { systemClock, systemIds } from './time.ts';
import { storageWorkers } from './workers.ts';

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
const stopGraceMs = 10_000;

/** Builds the house from the ground up; when a step fails, what was built is taken down again. */
export async function startHouse(options: HouseOptions): Promise<House> {
  const { product, environment, clock = systemClock, ids = systemIds(clock) } = options;
  const undo: (() => unknown)[] = [];
  const built = <T>(room: T, takeDown: (room: T) => unknown): T => {
    undo.push(() => takeDown(room));
    return room;
  };
  try {
    const { settings, dataDir } = bootSettings(product, environment, () => logs.logger('settings'));
    const format = settings.get<'auto' | 'pretty' | 'json'>('log.format');
    const logs = createLogs({
      level: settings.get<LogLevel>('log.level'),
      format: format === 'auto' ? (process.stdout.isTTY ? 'pretty' : 'json') : format,
      clock,
      ...(options.writeLog && { write: options.writeLog }),
    });
    settings.watch<LogLevel>('log.level', (level) => logs.setLevel(level));
    const log = logs.logger('boot');

    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const secretKey = settings.get<string>('data.secret_key');
    const storage = built(
      await openStorage({
        dataDir,
        appVersion: product.version,
        clock,
        log: logs.logger('storage'),
        startWorker: storageWorkers(product),
        ...(product.embedded && { nativeBinding: product.embedded.nativeBinding }),
        ...(secretKey !== '' && { secretKeys: [secretKey] }),
      }),
      (room) => room.close(),
    );
    const operator = createOperatorToken(join(dataDir, 'keys'), ids);
    const registry = new Registry();
    const metrics = built(createSelfMetrics({ version: product.version }), (room) => room.close());
    const strike: PluginHost['strike'] = (owner, label, error) => {
      metrics.core.pluginStrikes.add(1, { plugin: owner.pluginId });
      host.strike(owner, label, error);
    };
    const bus = createBus<Generation>({
      subscriptions: () => registry.current.subscriptions,
      deliver: (owner, label, work) => registry.pinned(owner, work).catch((error: unknown) => strike(owner, label, error)),
      log: logs.logger('events'),
      dropped: metrics.core.eventsDropped,
    });
    const outboxes = built(
      createOutboxes({ tables: storage.core(), clock, ids, log: logs.logger('outbox'), redact: redactText, tries: metrics.core.outboxTries }),
      (room) => room.stop(),
    );

    const host: PluginHost = built(
      new PluginHost(
        hostPorts({
          product,
          dataDir,
          sources: options.sources ?? pluginSources(product, dataDir),
          registry,
          container: container.createChildContainer(),
          memory: memoryFile(dataDir),
          clock,
          ids,
          logs,
          metrics,
          settings,
          storage,
          bus,
          outboxes,
        }),
      ),
      (room) => room.close(),
    );
    const http = createHttpServer({
      registry,
      clock,
      ids,
      log: logs.logger('http'),
      cursorKey: storage.derivedKey('http'),
      operator: operatorAuthenticator(operator.token),
      changes: changePort(storage),
      trustedProxies: settings.get<string[]>('http.trusted_proxies'),
      publicUrl: settings.get<string>('http.public_url'),
      strike,
      ...(options.checkResponses !== undefined && { checkResponses: options.checkResponses }),
      observe(route, status, ms) {
        metrics.core.httpRequests.add(1, { route, status: String(status) });
        metrics.core.httpSeconds.observe(ms / 1000, { route });
      },
    });
    const live = built(liveFiles(product, dataDir, settings, registry, clock, logs.logger('live-files')), (room) => room.close());
    const health = createHealth({ checks: () => [...registry.seen.checks.values()].map(({ value }) => value), clock });
    const parts = { registry, host, storage, health };
    registry.publish({
      add: [
        coreDraft({
          routes: coreRoutes({ registry, version: product.version, readiness: () => readiness(parts), metrics: () => metrics.text() }),
          plugins: host satisfies PluginDirectory,
          dropIns: live.dropIns,
          settings,
          catalogue: catalogueOf(registry),
          build: {
            version: product.version,
            node: process.version,
            startedAt: clock.now(),
            get publicUrl() {
              return settings.get<string>('http.public_url') || url;
            },
          },
          health: { check: () => health.ask() },
        }),
      ],
    });

    if (options.stands) {
      registry.publish({ add: [standIns(options.stands)] });
    }

    await live.dropIns.load();
    const count = (): Census => census({ registry, settings, metrics, outboxes, bus, http });
    const emptyCensus = count();
    await host.start();
    await outboxes.start();
    const { hostname, port } = addressOf(settings.get<string>('http.addr'));
    const bound = await http.listen(hostname, port);
    undo.push(() => http.close(stopGraceMs));
    const url = `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${bound}`;
    storage.announce(url);
    writeRunFile(dataDir, url, timestamp(clock.now()));
    undo.push(() => removeRunFile(dataDir));
    if (options.watch !== false) {
      await live.watch(host);
    }
    undo.push(every(5_000, 'retrying quarantined plugins', () => host.retryQuarantined(), log));
    undo.push(every(60 * minute, 'forgetting old idempotency keys', () => forgetOldKeys(storage, clock.now() - day), log));

    const bannerLines = [...registry.current.contributions.values()]
      .filter(({ value }) => value.point === Banner.id)
      .flatMap(({ value }) => (value.value as BannerLine).line(url) ?? []);
    let stopping: Promise<void> | undefined;
    return {
      url,
      dataDir,
      operatorToken: operator.token,
      registry,
      host,
      bannerLines,
      census: count,
      emptyCensus,
      stop(reason) {
        log.info({ reason }, 'stopping');
        stopping ??= takeDown(undo).finally(() => logs.flush());
        return stopping;
      },
    };
  } catch (error) {
    await takeDown(undo);
    throw error;
  }
}

/** Last built, first taken down; a step that fails does not keep the others from being done. */
async function takeDown(undo: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.splice(0).reverse()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}

function standIns(services: ReadonlyMap<string, object>): Draft {
  const draft = syntheticDraft('stand-ins', 'Stand-ins', 1);
  services.forEach((instance, id) => draft.add('services', id, { version: '1.0.0', instance }));
  return draft.seal();
}

function addressOf(address: string): { hostname: string; port: number } {
  const split = address.lastIndexOf(':');
  return { hostname: address.slice(0, split).replace(/^\[|\]$/g, ''), port: Number(address.slice(split + 1)) };
}
