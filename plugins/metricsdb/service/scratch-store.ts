import type { ScratchRow } from 'svc/contracts/metricsdb';
import { hintAfter, type NativeHistogram, weightOf } from 'svc/native-histogram';
import {
  type Budget,
  compareLabels,
  type Labels,
  labelsKey,
  labelsOf,
  labelValue,
  type Matcher,
} from 'svc/query';

import type { SelectHints, Series, SeriesSource } from '../promql/index.ts';
import { errors } from './errors.ts';

interface Kept {
  readonly labels: Labels;
  readonly times: number[];
  readonly values: number[];
  readonly stale: (0 | 1)[];
  ends: boolean;
  /** Histograms by position; only as long as needed to hold them all. */
  readonly histograms: (NativeHistogram | undefined)[];
}

const maxSamples = 2_000_000;

/** Series in memory, for as long as somebody tries something out. */
export class ScratchStore implements SeriesSource {
  readonly #series = new Map<string, Kept>();
  #sorted: readonly Kept[] | undefined;
  #samples = 0;

  add(rows: readonly ScratchRow[]): void {
    this.#samples += rows.reduce((sum, row) => sum + costOf(row), 0);
    if (this.#samples > maxSamples) {
      throw errors.scratch_full({ max: maxSamples });
    }
    for (const row of rows) {
      const kept = this.#keptFor(labelsOf(Object.entries(row.labels)));
      row.times.forEach((time, index) =>
        append(
          kept,
          time,
          row.values[index]!,
          row.stale?.[index] === 1 ? 1 : 0,
          row.histograms?.[index],
        ),
      );
    }
  }

  #keptFor(labels: Labels): Kept {
    const key = labelsKey(labels);
    const known = this.#series.get(key);
    if (known !== undefined) {
      return known;
    }
    const fresh: Kept = { labels, times: [], values: [], stale: [], ends: false, histograms: [] };
    this.#series.set(key, fresh);
    this.#sorted = undefined;
    return fresh;
  }

  async select(
    matchers: readonly Matcher[],
    mint: number,
    maxt: number,
    _hints: SelectHints,
    budget: Budget,
  ): Promise<readonly Series[]> {
    this.#sorted ??= [...this.#series.values()].sort((a, b) => compareLabels(a.labels, b.labels));
    return this.#sorted.flatMap(({ labels, times, values, stale, ends, histograms }): Series[] => {
      if (!matchers.every(({ name, matches }) => matches(labelValue(labels, name)))) {
        return [];
      }
      const [from, to] = [firstAfter(times, mint), firstAfter(times, maxt)];
      budget.spend(to - from);
      return from === to
        ? []
        : [
            {
              labels,
              times: Float64Array.from(times.slice(from, to)),
              values: Float64Array.from(values.slice(from, to)),
              length: to - from,
              ...(ends && { stale: Uint8Array.from(stale.slice(from, to)) }),
              ...(histograms.length > 0 && { histograms: histograms.slice(from, to) }),
            },
          ];
    });
  }
}

/** Returns the cost of a row: a histogram counts as one sample plus one for each of its buckets. */
function costOf({ times, histograms = [] }: ScratchRow): number {
  return (
    times.length + histograms.reduce((sum, one) => sum + (one === undefined ? 0 : weightOf(one)), 0)
  );
}

function append(
  kept: Kept,
  time: number,
  value: number,
  stale: 0 | 1,
  histogram: NativeHistogram | undefined,
): void {
  const { times, values, histograms } = kept;
  const last = times.at(-1);
  if (last !== undefined && time < last) {
    throw errors.scratch_order();
  }
  const at = time === last ? times.length - 1 : times.length;
  times[at] = time;
  values[at] = value;
  kept.stale[at] = stale;
  kept.ends ||= stale === 1;
  if (histogram !== undefined || histograms.length > at) {
    histograms[at] = histogram && { ...histogram, hint: hintAfter(histograms[at - 1], histogram) };
  }
}

/** Index of the first time that is later. */
function firstAfter(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
