import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { budget } from 'svc/query';

import { range, type SeriesSource } from '../../plugins/metricsdb/promql/index.ts';
import { openMetricsStore } from '../../plugins/metricsdb/store/open-store.ts';
import { type MetricsStore } from '../../plugins/metricsdb/store/store.ts';
import type { Outcome, Row } from '../exercise.ts';

const dayMs = 24 * 3_600_000;
const scrapeMs = 15_000;
const begin = Date.UTC(2026, 9, 1);
const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Questions over days, hour by hour: from all samples, and from thinned ones, in one run over one store. */
export async function run({
  hosts = 50,
  days = 10,
}: { readonly hosts?: number; readonly days?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rollup-'));
  let now = begin;
  const store = await openMetricsStore({
    folder,
    now: () => now,
    log: silent,
    limits: { maxAgeMs: 400 * dayMs },
  });
  try {
    const samples = await fill(store, hosts, days, (time) => (now = time));
    const { blockBytes, rollups } = store.stats();
    const end = begin + days * dayMs;
    const rows: Row[] = [];
    for (const query of [
      'cpu_percent',
      'rate(requests_total[1h])',
      'rate(requests_total[5m])',
      'max_over_time(cpu_percent[1h])',
    ]) {
      const [all, thinned] = [
        await measure(whole(store), query, end),
        await measure(store.source(), query, end),
      ];
      rows.push({
        query,
        'all, ms': all.ms,
        'thinned, ms': thinned.ms,
        'times faster': all.ms / thinned.ms,
        'samples read, of all': thinned.read / all.read,
      });
    }
    return { samples, days, rollups, 'bytes/sample, both': blockBytes / samples, questions: rows };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(
  store: MetricsStore,
  hosts: number,
  days: number,
  setNow: (time: number) => number,
): Promise<number> {
  let samples = 0;
  const counters = new Float64Array(hosts);
  const end = begin + days * dayMs;
  for (let at = begin; at < end; at += 3_600_000) {
    setNow(at + 3_600_000);
    const rows = [];
    for (let time = at; time < at + 3_600_000; time += scrapeMs) {
      for (let host = 0; host < hosts; host++) {
        counters[host]! += (time / scrapeMs + host) % 17;
        const labels = { host: String(host) };
        rows.push({
          labels: { __name__: 'requests_total', ...labels },
          time,
          value: counters[host]!,
        });
        rows.push({
          labels: { __name__: 'cpu_percent', ...labels },
          time,
          value:
            Math.round(5_000 + 4_000 * Math.sin(time / 4e6 + host) + ((time / 7_919) % 700)) / 100,
        });
      }
    }
    samples += rows.length;
    await store.write(rows);
    await store.maintain();
  }
  setNow(end + dayMs / 2);
  for (let i = 0; i < 8; i++) {
    await store.maintain();
  }
  return samples;
}

const whole = (store: MetricsStore): SeriesSource => {
  const source = store.source();
  return {
    ...source,
    scan: (matchers, mint, maxt, { windows: _, ...hints }, cost, visit) =>
      source.scan!(matchers, mint, maxt, hints, cost, visit),
  };
};

/** The middle one of five. */
async function measure(
  source: SeriesSource,
  query: string,
  end: number,
): Promise<{ readonly ms: number; readonly read: number }> {
  const found: number[] = [];
  let read = 0;
  for (let round = 0; round < 5; round++) {
    const cost = budget({
      timeoutMs: 120_000,
      maxSamples: 1e9,
      maxBytes: 1e12,
      now: () => performance.now(),
    });
    const started = performance.now();
    await range(source, { query, start: begin + 3_600_000, end, step: 3_600_000 }, cost);
    found.push(performance.now() - started);
    read = cost.spent.samples;
  }
  return { ms: found.sort((a, b) => a - b)[2]!, read };
}
