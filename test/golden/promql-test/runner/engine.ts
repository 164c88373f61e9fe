import type { NativeHistogram } from 'svc/native-histogram';
import { budget, type Labels } from 'svc/query';

import { instant, range, type RangeSeries } from '../../../../plugins/metricsdb/promql/index.ts';
import { MemoryStore } from './memory.ts';
import type { SeriesLine } from './series-line.ts';

export interface Points {
  readonly labels: Labels;
  readonly times: readonly number[];
  readonly values: readonly (number | NativeHistogram)[];
}

export type Answer = { readonly warnings: readonly string[]; readonly infos: readonly string[] } & (
  | { readonly type: 'scalar'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'vector' | 'matrix'; readonly series: readonly Points[] }
);

/** Engine that a script runs against. */
export interface Engine {
  clear(): Promise<void>;
  load(stepMs: number, series: readonly SeriesLine[]): Promise<void>;
  instant(query: string, time: number): Promise<Answer>;
  range(query: string, start: number, end: number, step: number): Promise<Answer>;
  /** Why a question cannot be asked here. */
  unsupported?(query: string): string | undefined;
  /** True if series can hold native histograms. */
  readonly histograms?: boolean;
}

export interface LocalOptions {
  readonly typeAndUnitLabels?: boolean;
}

/** The engine itself over a store in memory, with the options that the scripts are written for. */
export function localEngine({ typeAndUnitLabels = false }: LocalOptions = {}): Engine {
  let store = new MemoryStore();
  const options = { delayedNameRemoval: true, typeAndUnitLabels };
  const allowance = () => budget({ timeoutMs: 60_000, now: () => performance.now() });
  return {
    histograms: true,
    async clear() {
      store = new MemoryStore();
    },
    async load(stepMs, series) {
      for (const { labels, items } of series) {
        store.add(labels, stepMs, items);
      }
    },
    async instant(query, time) {
      const result = await instant(store, { query, time, ...options }, allowance());
      if (result.type === 'vector') {
        return {
          ...result,
          series: result.samples.map(({ labels, value, histogram }) => ({
            labels,
            times: [time],
            values: [histogram ?? value],
          })),
        };
      }
      return result.type === 'matrix' ? { ...result, series: result.series.map(plain) } : result;
    },
    async range(query, start, end, step) {
      const result = await range(store, { query, start, end, step, ...options }, allowance());
      return { ...result, series: result.series.map(plain) };
    },
  };
}

const plain = ({ labels, times, values, histograms }: RangeSeries): Points => ({
  labels,
  times: [...times],
  values: Array.from(values, (value, index) => histograms?.[index] ?? value),
});
