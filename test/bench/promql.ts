import { budget, labelsOf } from 'svc/query';

import {
  instant,
  range,
  type Series,
  type SeriesSource,
} from '../../plugins/metricsdb/promql/index.ts';
import type { Outcome } from '../exercise.ts';

interface Options {
  readonly series?: number;
  readonly hours?: number;
  readonly intervalSeconds?: number;
  readonly rounds?: number;
}

const queries = [
  'requests_total',
  'rate(requests_total[5m])',
  'sum(rate(requests_total[5m]))',
  'sum by (host) (rate(requests_total[5m]))',
  'topk(5, rate(requests_total[5m]))',
  'max_over_time(requests_total[1h])',
  'stddev_over_time(requests_total[1h])',
  'quantile_over_time(0.95, requests_total[10m])',
  'rate(requests_total[5m]) / on (host, path) group_left () sum by (host, path) (requests_total)',
  'max_over_time(rate(requests_total[1m])[10m:1m])',
];

/** The engine alone, over samples in memory: figures hold for what a store adds to. */
export async function run({
  series = 1_008,
  hours = 6,
  intervalSeconds = 15,
  rounds = 3,
}: Options): Promise<Outcome> {
  const end = 1_800_000_000_000;
  const start = end - hours * 3_600_000;
  const data = counters(series, start - 3_600_000, end, intervalSeconds * 1000);
  const source: SeriesSource = {
    select: async (_matchers, mint, maxt) => data.map((one) => within(one, mint, maxt)),
  };
  const step = Math.max(15_000, Math.floor((end - start) / 360));
  const rows = [];
  for (const query of queries) {
    rows.push({
      query,
      range_ms: await best(rounds, () => range(source, { query, start, end, step }, allowance())),
      instant_ms: await best(rounds, () => instant(source, { query, time: end }, allowance())),
    });
  }
  return {
    series,
    samples: series * data[0]!.length,
    steps: Math.floor((end - start) / step) + 1,
    queries: rows,
  };
}

const allowance = () =>
  budget({ timeoutMs: 120_000, maxSamples: 1e9, maxBytes: 1e12, now: () => performance.now() });

async function best(rounds: number, work: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await work();
    least = Math.min(least, performance.now() - began);
  }
  return Math.round(least * 10) / 10;
}

function counters(count: number, from: number, to: number, interval: number): Series[] {
  const length = Math.floor((to - from) / interval);
  return Array.from({ length: count }, (_, index) => {
    const times = new Float64Array(length);
    const values = new Float64Array(length);
    let value = index * 1_000;
    for (let i = 0; i < length; i++) {
      times[i] = from + i * interval + (index % 100);
      // A reset now and then.
      value = (i + index) % 997 === 0 ? 0 : value + ((i * 7 + index * 13) % 50);
      values[i] = value;
    }
    const labels = labelsOf([
      ['__name__', 'requests_total'],
      ['host', `host-${index % 42}`],
      ['path', `/p${index % 8}`],
      ['code', String(index)],
    ]);
    return { labels, times, values, length };
  });
}

function within({ labels, times, values, length }: Series, mint: number, maxt: number): Series {
  const above = (time: number): number => {
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle]! <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const from = above(mint);
  const to = above(maxt);
  return {
    labels,
    times: times.subarray(from, to),
    values: values.subarray(from, to),
    length: to - from,
  };
}
