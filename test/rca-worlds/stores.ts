import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ChangeFeed } from 'svc/contracts/changes';
import type { LogQueries } from 'svc/contracts/logs';
import type { MetricsQueries } from 'svc/contracts/metricsdb';
import type { TopologyGraph } from 'svc/contracts/topology';
import type { TraceQueries } from 'svc/contracts/traces';
import type { Logger } from 'svc/sdk';

import type { MadeWorld } from '../../plugins/investigate/cli/bench/worlds/make.ts';
import { openLogs } from '../../plugins/logs/open-logs.ts';
import { openTraces } from '../../plugins/traces/open-traces.ts';
import { metricsInMemory } from './metrics-in-memory.ts';
import { topologyInMemory } from './topology-in-memory.ts';

/** Stores of svc with what one world sends, as far as an investigation asks them. */
export interface Stores {
  readonly metrics: Pick<MetricsQueries, 'instant' | 'range'>;
  readonly logs: Pick<
    LogQueries,
    'instant' | 'range' | 'patterns' | 'lines' | 'labels' | 'labelValues'
  >;
  readonly traces: Pick<TraceQueries, 'search' | 'trace'>;
  readonly topology: Pick<TopologyGraph, 'neighbourhood'>;
  readonly changes: Pick<ChangeFeed, 'near'>;
  close(): Promise<void>;
}

const ignore = (): void => undefined;
const quiet = {
  info: ignore,
  warn: ignore,
  error: ignore,
  debug: ignore,
  fatal: ignore,
  trace: ignore,
  child: () => quiet,
} as unknown as Logger;
const call = { signal: new AbortController().signal };
const query = { timeoutMs: 60_000, cpuMs: 60_000, maxSamples: 5e7, maxBytes: 1e10 };
const retention = { maxAgeMs: 30 * 86_400_000, maxBytes: 1e10 };

/** Opens the stores of one world in this process; lines and spans lie in a folder that is gone afterwards. */
export async function openStores(world: MadeWorld): Promise<Stores> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-world-'));
  const setup = { log: quiet, notify: ignore, now: () => world.end + 20_000, every: () => ignore };
  const after = () => ignore;
  const logs = await openLogs({
    ...setup,
    after,
    ...call,
    data: { folder: join(folder, 'logs'), limits: {}, retention, query },
  });
  const traces = await openTraces({ ...setup, data: { folder: join(folder, 'traces'), query } });
  const ask = (method: string, input: object): never => logs.methods[method]!(input, call) as never;
  const streams = world.logs.filter(({ values }) => values.length > 0);
  if (streams.length > 0) {
    await logs.methods['push']!({ format: 'loki-json', body: bytes({ streams }) }, call);
  }
  for (const body of world.spans) {
    await traces.methods.push({ format: 'otlp-json', body: bytes(body) });
  }
  return {
    metrics: metricsInMemory(world.metrics, world.end),
    logs: {
      instant: async (text, time) => ask('instant', { query: text, start: time, end: time }),
      range: async (text, window) => ask('range', { query: text, ...window }),
      patterns: async (text, window, { step } = {}) =>
        ask('patterns', { query: text, ...window, step }),
      lines: async (text, window, { limit, direction } = {}) =>
        ask('lines', { query: text, ...window, limit, direction }),
      labels: async (window) => ask('names', { ...window }),
      labelValues: async (label, window) => ask('names', { label, ...window }),
    },
    traces: {
      search: async (text, window, { limit, spansPerSpanSet } = {}) =>
        await traces.methods.search(
          {
            query: text,
            ...window,
            ...(limit !== undefined && { limit }),
            ...(spansPerSpanSet !== undefined && { spansPerSpanSet }),
          },
          call,
        ),
      async trace(traceId) {
        const found = await traces.methods.trace({ traceId, form: 'v1' }, call);
        return found && JSON.parse(Buffer.from(found).toString('utf8'));
      },
    },
    topology: topologyInMemory(world.topology),
    changes: changesOf(world),
    async close() {
      await logs.close();
      await traces.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const bytes = (body: object): Uint8Array => Buffer.from(JSON.stringify(body));

const changesOf = ({ changes }: MadeWorld): Stores['changes'] => ({
  near: async ({ start, end, services = [] }) =>
    changes
      .map(({ at, ...change }, index) => ({ ...change, id: index + 1, at: Date.parse(at) }))
      .filter(({ at, service }) => at >= start && at < end && services.includes(service))
      .sort((a, b) => b.at - a.at) as never,
});
