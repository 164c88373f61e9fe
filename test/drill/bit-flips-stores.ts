import { type Budget, budget } from 'svc/query';
import type { CareRequest, StoreReport } from 'svc/store';

import { openLogStore } from '../../plugins/logs/store/store.ts';
import { lines } from '../../plugins/logs/logql/index.ts';
import { range } from '../../plugins/metricsdb/promql/index.ts';
import { openMetricsStore } from '../../plugins/metricsdb/store/open-store.ts';
import { openTraces } from '../../plugins/traces/open-traces.ts';
import { silent } from '../plugins/metricsdb/store/house.ts';
import { bodyOf, type Sent } from '../plugins/traces/bodies.ts';

export interface Answer {
  readonly text: string;
  /** Samples, lines or spans in it. */
  readonly items: readonly string[];
  readonly warnings: readonly string[];
}

export interface OpenStore {
  /** Asks for all that the store has. */
  ask(): Promise<Answer>;
  care(request: CareRequest): Promise<StoreReport>;
  /** Does the work that the store does from time to time. */
  tend(): Promise<unknown>;
  close(): Promise<void>;
}

/** One of the stores, filled with blocks and a log. */
export interface FlippedStore {
  readonly name: string;
  fill(folder: string): Promise<void>;
  open(folder: string): Promise<OpenStore>;
}

const hour = 3_600_000;
const began = Date.UTC(2026, 10, 20);
const disk = { minFreeShare: 0, minFreeBytes: 0 };
const free = () => budget({ timeoutMs: 60_000 });

const metrics: FlippedStore = {
  name: 'metrics',
  async fill(folder) {
    let now = began;
    const store = await openMetricsStore({
      folder,
      now: () => now,
      monotonic: () => now,
      log: silent,
      disk,
      seed: 1,
    });
    for (; now < began + 60 * hour; now += hour) {
      const rows = Array.from({ length: 100 }, (_, host) => ({
        labels: { __name__: 'm', host: String(host) },
        time: now,
        value: host + now / hour,
      }));
      await store.write(rows);
      await store.maintain();
    }
    await store.maintain();
    await store.close();
  },
  async open(folder) {
    const now = began + 60 * hour;
    const store = await openMetricsStore({
      folder,
      now: () => now,
      monotonic: () => now,
      log: silent,
      disk,
      seed: 1,
    });
    const asked = { start: began, end: began + 60 * hour, step: hour, lookbackMs: 5 * 60_000 };
    const valuesOf = async (query: string, cost: Budget): Promise<string[]> =>
      (await range(store.source(), { ...asked, query }, cost)).series.flatMap(
        ({ labels, values }) => [...values].map((value, i) => `${labels.join()} ${i} ${value}`),
      );
    return {
      async ask() {
        const cost = free();
        const items = await valuesOf('m', cost);
        const thinned = await valuesOf('count_over_time(m[1h])', cost);
        return { text: [...items, ...thinned].join('\n'), items, warnings: cost.warnings };
      },
      care: (request) => store.care(request),
      async tend() {
        await store.maintain();
        await store.maintain();
        await store.maintain();
      },
      close: () => store.close(),
    };
  },
};

const logs: FlippedStore = {
  name: 'logs',
  async fill(folder) {
    const store = await openLogStore({
      folder,
      now: () => began + hour,
      monotonic: () => 0,
      log: silent,
      disk,
    });
    const written = (from: number) =>
      Array.from({ length: 400 }, (_, i) => ({
        labels: { app: `a${i % 8}` },
        at: { ms: began + from + i, ns: 0 },
        line: `line ${from + i} of something`,
      }));
    await store.write(written(0));
    await store.flush();
    await store.write(written(1_000));
    await store.close();
  },
  async open(folder) {
    const store = await openLogStore({
      folder,
      now: () => began + hour,
      monotonic: () => 0,
      log: silent,
      disk,
    });
    const window = { start: { ms: began - 1, ns: 0 }, end: { ms: began + hour, ns: 0 } };
    return {
      async ask() {
        const cost = free();
        const found = await lines(
          store.source(),
          { query: '{app=~".+"}', ...window, limit: 5_000, now: () => began + hour },
          cost,
        );
        const items = found.lines.map(({ ms, line, labels }) => JSON.stringify([ms, line, labels]));
        return { text: items.join('\n'), items, warnings: cost.warnings };
      },
      care: (request) => store.care(request),
      tend: () => store.tidy(),
      close: () => store.close(),
    };
  },
};

const traces: FlippedStore = {
  name: 'traces',
  async fill(folder) {
    const service = await opened(folder);
    for (let trace = 1; trace <= 60; trace++) {
      await service.methods.push({
        format: 'otlp-proto',
        body: bodyOf({ 'service.name': `s${trace % 5}` }, span(trace, { n: trace })),
      });
      if (trace === 20 || trace === 40) {
        await service.methods.tend({ now: true });
      }
    }
    await service.close();
  },
  async open(folder) {
    const service = await opened(folder);
    const call = { signal: new AbortController().signal };
    const window = { start: 0, end: 4e12 };
    return {
      async ask() {
        const { traces: found, warnings = [] } = await service.methods.search(
          { query: '{ span.n > 0 }', limit: 1_000, ...window },
          call,
        );
        const tags = await service.methods.tagValues({ tag: 'service.name', ...window }, call);
        const items = found.map((trace) => JSON.stringify(trace));
        return { text: [...items, JSON.stringify(tags)].join('\n'), items, warnings };
      },
      care: async (request) => await service.methods.care(request),
      tend: async () => await service.methods.tend(),
      close: () => service.close(),
    };
  },
};

const span = (number: number, attributes: Sent['attributes'] = {}): Sent => ({
  trace: number.toString(16).padStart(32, '0'),
  id: number.toString(16).padStart(16, '0'),
  startMs: began + number,
  attributes,
});

const opened = (folder: string) =>
  openTraces({
    data: { folder },
    log: silent,
    notify: () => undefined,
    now: () => Date.now(),
    every: () => () => undefined,
  });

export const flippedStores: readonly FlippedStore[] = [metrics, logs, traces];
