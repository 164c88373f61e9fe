import { useEffect, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';

/** Figures whose course is drawn in the list, by the metric that every agent reports. */
export const trendMetrics = {
  cpu: 'node_cpu_usage_percent',
  memory: 'node_memory_used_percent',
  disk: 'node_filesystem_used_percent',
  load: 'node_load1',
} as const;
export type TrendName = keyof typeof trendMetrics;

/** A value for each point in time, the oldest first; null where there was none. */
export type Trend = readonly (number | null)[];

export const trendSeconds = 3_600;
const points = 30;
const stepSeconds = trendSeconds / points;
const freshMs = 60_000;
/** Most devices of one question. */
const mostIds = 200;

interface Kept {
  readonly at: number;
  /** Undefined while it is asked for. */
  readonly trend: Trend | undefined;
}

const kept = new Map<string, Kept>();
const wanted = new Map<TrendName, Set<number>>();
const listeners = new Set<() => void>();
let isAsking = false;

/**
 * Returns how a figure of a device went in the last hour; undefined until it is known. What the rows
 * in sight need at one moment is asked at once.
 */
export function useTrend(name: TrendName, device: number): Trend | undefined {
  const [, draw] = useState(0);
  useEffect(() => {
    const again = (): void => draw((count) => count + 1);
    const ask = (): void => {
      if (document.visibilityState === 'visible') {
        want(name, device);
      }
    };
    listeners.add(again);
    ask();
    const timer = setInterval(ask, freshMs);
    return () => {
      listeners.delete(again);
      clearInterval(timer);
    };
  }, [name, device]);
  return kept.get(keyOf(name, device))?.trend;
}

const keyOf = (name: TrendName, device: number): string => `${name} ${device}`;

function want(name: TrendName, device: number): void {
  const known = kept.get(keyOf(name, device));
  if (known !== undefined && Date.now() - known.at < freshMs) {
    return;
  }
  const ids = wanted.get(name) ?? new Set();
  wanted.set(name, ids.add(device));
  if (!isAsking) {
    isAsking = true;
    void Promise.resolve().then(askAll);
  }
}

async function askAll(): Promise<void> {
  isAsking = false;
  const asked = [...wanted].map(([name, ids]) => [name, [...ids]] as const);
  wanted.clear();
  await Promise.all(asked.map(([name, ids]) => ask(name, ids)));
  listeners.forEach((listener) => listener());
}

async function ask(name: TrendName, ids: readonly number[]): Promise<void> {
  const at = Date.now();
  // What was asked for is not asked again at once, also where nothing is measured.
  ids.forEach((id) => kept.set(keyOf(name, id), { at, trend: kept.get(keyOf(name, id))?.trend }));
  const end = Math.floor(at / 1000 / stepSeconds) * stepSeconds;
  const start = end - trendSeconds;
  for (let from = 0; from < ids.length; from += mostIds) {
    const part = ids.slice(from, from + mostIds);
    try {
      const { result } = await api.post<{
        readonly result: readonly {
          readonly metric: { readonly device_id?: string };
          readonly values: readonly (readonly [number, string])[];
        }[];
      }>('/metricsdb/query_range', {
        query: `max by (device_id) (${trendMetrics[name]}{device_id=~"${part.join('|')}"})`,
        start,
        end,
        step: stepSeconds,
      });
      for (const { metric, values } of result) {
        const trend = Array.from<number | null>({ length: points + 1 }).fill(null);
        values.forEach(([time, value]) => {
          const number = Number(value);
          trend[Math.round((time - start) / stepSeconds)] = Number.isFinite(number) ? number : null;
        });
        kept.set(keyOf(name, Number(metric.device_id)), { at, trend });
      }
    } catch {
      // A list without curves is better than none; they are asked for again with the next round.
      return;
    }
  }
}
