import { budget, matcher } from 'svc/query';

import { openMetricsStore } from '../../plugins/metricsdb/store/open-store.ts';
import { type MetricsStore } from '../../plugins/metricsdb/store/store.ts';

/**
 * Start time of the drill; each batch is a step later, so that some hundred batches fill several
 * blocks.
 */
const epoch = Date.UTC(2026, 0, 1);
const stepMs = 45_000;
const hosts = 40;

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export const openIn = (
  folder: string,
  now: () => number = () => epoch + 1e9 * stepMs,
): Promise<MetricsStore> =>
  openMetricsStore({
    folder,
    now,
    log,
    disk: { minFreeShare: 0, minFreeBytes: 0 },
    limits: { maxAgeMs: 1e15, headBytes: 2_097_152 },
  });

export const timeOf = (batch: number): number => epoch + batch * stepMs;

/** Returns the delay of a sample: some come late, with a time before the last batch. */
const shiftOf = (batch: number, host: number): number =>
  (batch + host) % 7 === 0 ? -stepMs - 1 - host : host;

export const valueOf = (batch: number, host: number): number =>
  Math.round(Math.sin(batch * 31 + host) * 1e6) / 100;

export function rowsOf(
  batch: number,
): { labels: Record<string, string>; time: number; value: number }[] {
  return Array.from({ length: hosts }, (_, host) => ({
    // Some series live only for a while.
    labels: {
      __name__: 'm',
      host: host % 10 === 9 ? `${host}-${Math.floor(batch / 100)}` : String(host),
    },
    time: timeOf(batch) + shiftOf(batch, host),
    value: valueOf(batch, host),
  }));
}

/** Batches that are in the store, counted from 0; throws when one is there in part, changed, or when one before it is missing. */
export async function batchesIn(store: MetricsStore): Promise<number> {
  const cost = budget({ timeoutMs: 120_000, now: () => performance.now() });
  const series = await store
    .source()
    .select([matcher('__name__', '=', 'm')], -8e15, 8e15, {}, cost);
  const found = new Map<string, Map<number, number>>();
  let samples = 0;
  for (const { labels, times, values, length } of series) {
    samples += length;
    found.set(labels.at(-1)!, new Map(Array.from({ length }, (_, i) => [times[i]!, values[i]!])));
  }
  let batch = 0;
  for (; ; batch++) {
    const there = rowsOf(batch).filter(
      ({ labels, time, value }) => found.get(labels['host']!)?.get(time) === value,
    ).length;
    if (there !== 0 && there !== hosts) {
      throw new Error(`of batch ${batch} only ${there} of ${hosts} samples are there`);
    }
    if (there === 0) {
      break;
    }
  }
  if (samples !== batch * hosts) {
    throw new Error(
      `${samples} samples are there, and the first ${batch} batches have ${batch * hosts}`,
    );
  }
  return batch;
}
