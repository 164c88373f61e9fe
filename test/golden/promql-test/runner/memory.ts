import { hintAfter, type NativeHistogram } from 'svc/native-histogram';
import {
  type Budget,
  compareLabels,
  type Labels,
  labelsKey,
  labelValue,
  type Matcher,
} from 'svc/query';

import type { Series, SeriesSource } from '../../../../plugins/metricsdb/promql/index.ts';
import { isHistogram, type Item } from './series-line.ts';

type Sample = Exclude<Item, undefined>;

interface Stored {
  readonly labels: Labels;
  /** Samples in order of time; the last one written at a time counts. */
  readonly samples: Map<number, Sample>;
}

/** A store in memory. */
export class MemoryStore implements SeriesSource {
  readonly #series = new Map<string, Stored>();
  #sorted: readonly (Series & { readonly stale: Uint8Array })[] | undefined;

  add(labels: Labels, stepMs: number, items: readonly Item[], startMs = 0): void {
    const key = labelsKey(labels);
    const stored = this.#series.get(key) ?? { labels, samples: new Map<number, Sample>() };
    this.#series.set(key, stored);
    this.#sorted = undefined;
    items.forEach((item, index) => {
      if (item !== undefined) {
        stored.samples.set(startMs + index * stepMs, item);
      }
    });
  }

  get all(): readonly (Series & { readonly stale: Uint8Array })[] {
    this.#sorted ??= [...this.#series.values()]
      .sort((a, b) => compareLabels(a.labels, b.labels))
      .map(frozen);
    return this.#sorted;
  }

  async select(
    matchers: readonly Matcher[],
    mint: number,
    maxt: number,
    _hints: unknown,
    budget: Budget,
  ): Promise<readonly Series[]> {
    const found: Series[] = [];
    for (const { labels, times, values, stale, length, histograms } of this.all) {
      if (matchers.every(({ name, matches }) => matches(labelValue(labels, name)))) {
        let from = 0;
        let to = length;
        while (from < to && times[from]! <= mint) {
          from++;
        }
        while (to > from && times[to - 1]! > maxt) {
          to--;
        }
        if (to > from) {
          budget.spend(to - from);
          const part = stale.subarray(from, to);
          found.push({
            labels,
            times: times.subarray(from, to),
            values: values.subarray(from, to),
            length: to - from,
            ...(part.includes(1) && { stale: part }),
            ...(histograms && { histograms: histograms.slice(from, to) }),
          });
        }
      }
    }
    return found;
  }
}

function frozen({ labels, samples }: Stored): Series & { readonly stale: Uint8Array } {
  const sorted = [...samples].sort(([a], [b]) => a - b);
  return {
    labels,
    length: sorted.length,
    times: Float64Array.from(sorted, ([time]) => time),
    values: Float64Array.from(sorted, ([, value]) => (typeof value === 'number' ? value : NaN)),
    stale: Uint8Array.from(sorted, ([, value]) => (value === 'stale' ? 1 : 0)),
    ...(sorted.some(([, value]) => isHistogram(value)) && {
      histograms: histogramsOf(sorted.map(([, value]) => value)),
    }),
  };
}

/** Returns histograms with the hints that a store gives them. */
function histogramsOf(samples: readonly Sample[]): readonly (NativeHistogram | undefined)[] {
  let before: NativeHistogram | undefined;
  return samples.map((sample) => {
    before = isHistogram(sample)
      ? { ...sample.histogram, hint: hintAfter(before, sample.histogram) }
      : undefined;
    return before;
  });
}
