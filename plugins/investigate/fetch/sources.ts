import { ChangeFeed } from 'svc/contracts/changes';
import { EdgeFleet } from 'svc/contracts/edge';
import { type EvidenceSource, type Fetcher, Fetchers } from 'svc/contracts/investigate';
import { LogQueries } from 'svc/contracts/logs';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { TopologyGraph } from 'svc/contracts/topology';
import { TraceQueries } from 'svc/contracts/traces';
import type { SeenDevices } from 'svc/query';
import type { OpenPoint, PluginContext } from 'svc/sdk';

import { inventorySource } from './inventory.ts';
import { changeSource, topologySource } from './graph-sources.ts';
import { countSource, lineSource, streamSource, templateSource } from './log-sources.ts';
import { MetricsSource } from './metrics-source.ts';
import { processSource } from './process-source.ts';
import { traceSource } from './trace-source.ts';

/** Sources of evidence: the stores of the product, and those of other plugins. */
export class Sources {
  readonly #stores: ReturnType<typeof storesOf>;
  readonly #fetchers: OpenPoint<Fetcher>;

  constructor({ services, extend }: Pick<PluginContext, 'services' | 'extend'>) {
    this.#stores = storesOf(services);
    this.#fetchers = extend.open(Fetchers);
  }

  /** Returns the contributed fetchers by name. */
  readonly fetchers = (): ReadonlyMap<string, Fetcher> =>
    new Map(this.#fetchers.list().map(({ id, value }) => [id, value]));

  /**
   * Returns the sources limited to these devices; contributed ones may concern any device and are
   * left out.
   */
  readonly of = (seen: SeenDevices): ReadonlyMap<string, EvidenceSource> => {
    const { metrics, logs, traces, topology, changes, edges } = this.#stores;
    return new Map<string, EvidenceSource>([
      ...(seen === undefined ? this.fetchers() : []),
      ['metrics', new MetricsSource(metrics, seen)],
      ['inventory', inventorySource(metrics, seen)],
      ['templates', templateSource(logs, seen)],
      ['counts', countSource(logs, seen)],
      ['streams', streamSource(logs, seen)],
      ['logs', lineSource(logs, seen)],
      ['traces', traceSource(traces, seen)],
      ['topology', topologySource(topology, seen)],
      ['changes', changeSource(changes, seen)],
      ['processes', processSource(edges, seen)],
    ]);
  };
}

const storesOf = (services: PluginContext['services']) => ({
  metrics: services.maybe(MetricsQueries),
  logs: services.maybe(LogQueries),
  traces: services.maybe(TraceQueries),
  topology: services.maybe(TopologyGraph),
  changes: services.maybe(ChangeFeed),
  edges: services.maybe(EdgeFleet),
});
