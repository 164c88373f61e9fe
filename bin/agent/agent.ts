import { sourceBundler } from '../bundler/sources.ts';
import { PluginHost, type PluginSources } from '../../core/host/index.ts';
import {
  Board,
  BuildInfo,
  type Clock,
  Health,
  type Ids,
  Plugins,
  Self,
  timestamp,
} from '../../core/sdk/index.ts';
import { coreDraft, coreService } from '../../core/boot/core-plugin.ts';
import { openEdgeDoor } from './status-socket.ts';
import { createEdgeMetrics, type EdgeMetrics } from './metrics.ts';
import { agentModules } from './agent-modules.ts';
import { edgePorts } from './host-ports.ts';
import { smallSchemas } from './small-ajv.ts';
import { edgeSettings } from './settings.ts';
import { type Base, healthOf, openBase, openHostParts } from '../../core/boot/base.ts';
import { pluginSources, type Product } from '../../core/boot/settings/product.ts';
import type { Environment } from '../../core/boot/settings/settings.ts';
import { every, TakeDown } from '../../core/boot/take-down.ts';
import { systemClock, systemIds } from '../../core/boot/time.ts';

export interface AgentOptions {
  readonly product: Product;
  readonly environment: Environment;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly writeLog?: (line: string) => void;
  readonly sources?: PluginSources;
  /** Looks at what there is before the first plugin. */
  readonly beforePlugins?: (registry: Base['registry']) => void;
}

/** svc of an agent: the same host of plugins, without HTTP, database, packs and live files. */
export interface RunningAgent {
  readonly dataDir: string;
  readonly registry: Base['registry'];
  readonly host: PluginHost;
  stop(reason: string): Promise<void>;
}

/** Builds svc of an edge; when a step fails, what was built is taken down again. */
export async function bootAgent(options: AgentOptions): Promise<RunningAgent> {
  const { product, clock = systemClock, ids = systemIds(clock) } = options;
  const sources = options.sources ?? shippedOnly(product);
  const lent = { schemas: smallSchemas, shared: agentModules, bundler: sourceBundler };
  const takeDown = new TakeDown();
  try {
    const base = openBase({ ...options, ...lent, clock, ids, sources }, 'edge', edgeSettings);
    const { dataDir, registry, logs } = base;
    const metrics = createEdgeMetrics();
    const host = openEdgeHost(base, sources, metrics, takeDown);
    const health = healthOf(base);
    const startedAt = clock.now();
    const door = await openEdgeDoor(dataDir, async () => ({
      pid: process.pid,
      version: product.version,
      started_at: timestamp(startedAt),
      plugins: host
        .list()
        .flatMap(({ id, state, cause }) =>
          state === 'discovered' ? [] : [{ id, state, cause: cause ?? null }],
        ),
      ...(await health.ask()),
    }));
    takeDown.add(() => door.close());
    publishCore(base, { host, metrics, health, startedAt });
    options.beforePlugins?.(registry);
    await host.start();
    const log = logs.logger('boot');
    takeDown.add(every(1_000, 'retrying plugins', () => host.retry(), log));
    return {
      dataDir,
      registry,
      host,
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

/** The host of an edge, with what it lends to plugins and counts of them; none of them is up yet. */
function openEdgeHost(
  base: Base,
  sources: PluginSources,
  metrics: EdgeMetrics,
  takeDown: TakeDown,
): PluginHost {
  const own = metrics.forPlugin('core', (_label, undo) => undo);
  const strikes = own.counter('plugin_strikes_total', 'Errors on the account of a plugin.', [
    'plugin',
  ]);
  const dropped = own.counter('events_dropped_total', 'Events that a slow subscriber missed.', [
    'subscriber',
  ]);
  const strike: PluginHost['strike'] = (owner, label, error) => {
    strikes.add(1, { plugin: owner.pluginId });
    host.strike(owner, label, error);
  };
  const commons = openHostParts(base, { strike, dropped }, takeDown);
  const host: PluginHost = new PluginHost(edgePorts({ ...base, ...commons, sources, metrics }));
  takeDown.add(() => host.close());
  return host;
}

interface Offered {
  readonly host: PluginHost;
  readonly metrics: EdgeMetrics;
  readonly health: ReturnType<typeof healthOf>;
  readonly startedAt: number;
}

/** Publishes what core itself offers to the plugins of an edge. */
function publishCore(
  { product, settings, observers, registry }: Base,
  { host, metrics, health, startedAt }: Offered,
): void {
  const services = [
    coreService(Plugins, host),
    coreService(Board, settings),
    coreService(BuildInfo, {
      version: product.version,
      root: product.root,
      beside: [],
      node: process.version,
      publicUrl: '',
      startedAt,
      ownUrl: '',
      agent: [],
    }),
    coreService(Health, { check: () => health.ask() }),
    coreService(Self, {
      gather: async () => metrics.samples(),
      onLine: (listener) => observers.onLine(listener),
      onRequest: (listener) => observers.onRequest(listener),
      unobserved: (work) => observers.unobserved(work),
    }),
  ];
  registry.publish({ add: [coreDraft(services)] });
}

/** Returns only shipped plugins: nothing that was put into the data folder runs on an edge. */
export function shippedOnly(product: Product): PluginSources {
  const { embedded, roots } = pluginSources(product, '');
  return { embedded, roots: roots.filter(({ origin }) => origin === 'shipped') };
}
