import type { MetricsStage } from './ast.ts';
import type { Attribute } from './span.ts';

export const histogram = 'histogram_over_time';

/** What is gathered for one group, slot by slot. */
export interface Slots {
  add(slot: number, value: number): void;
  series(stepSeconds: number): readonly { readonly label: Attribute | undefined; readonly values: Float64Array }[];
}

/** Makes the slots of one group for a metrics function. */
export function slotsFor(stage: MetricsStage, count: number): () => Slots {
  switch (stage.function) {
    case 'rate':
      return () =>
        folded(
          count,
          0,
          (sum) => sum + 1,
          (sum, seconds) => sum / seconds,
        );
    case 'count_over_time':
      return () => folded(count, 0, (sum) => sum + 1);
    case 'sum_over_time':
      return () => folded(count, NaN, (sum, value) => (Number.isNaN(sum) ? value : sum + value));
    case 'min_over_time':
      return () => folded(count, NaN, (least, value) => (least <= value ? least : value));
    case 'max_over_time':
      return () => folded(count, NaN, (most, value) => (most >= value ? most : value));
    case 'avg_over_time':
      return () => averages(count);
    case 'quantile_over_time':
      return () => quantiles(count, stage.quantiles);
    case 'histogram_over_time':
      return () => buckets(count);
  }
}

function folded(
  count: number,
  initial: number,
  fold: (so: number, value: number) => number,
  finish: (value: number, seconds: number) => number = (value) => value,
): Slots {
  const values = new Float64Array(count).fill(initial);
  return {
    add(slot, value) {
      values[slot] = fold(values[slot]!, value);
    },
    series: (seconds) => [{ label: undefined, values: values.map((value) => finish(value, seconds)) }],
  };
}

function averages(count: number): Slots {
  const sums = new Float64Array(count);
  const counts = new Float64Array(count);
  return {
    add(slot, value) {
      sums[slot]! += value;
      counts[slot]!++;
    },
    series: () => [{ label: undefined, values: sums.map((sum, slot) => sum / counts[slot]!) }],
  };
}

function quantiles(count: number, wanted: readonly number[]): Slots {
  const histograms = new Map<number, Histogram>();
  return {
    add(slot, value) {
      let found = histograms.get(slot);
      if (found === undefined) {
        histograms.set(slot, (found = new Histogram()));
      }
      found.add(value);
    },
    series: () =>
      wanted.map((q) => ({
        label: { key: 'p', value: { type: 'float', value: q } },
        values: Float64Array.from({ length: count }, (_, slot) => histograms.get(slot)?.quantile(q) ?? NaN),
      })),
  };
}

function buckets(count: number): Slots {
  const bounds = new Map<number, Float64Array>();
  return {
    add(slot, value) {
      const bound = octave(value);
      let counts = bounds.get(bound);
      if (counts === undefined) {
        bounds.set(bound, (counts = new Float64Array(count)));
      }
      counts[slot]!++;
    },
    series: () =>
      [...bounds].sort(([a], [b]) => a - b).map(([bound, values]) => ({ label: { key: '__bucket', value: { type: 'float', value: bound } }, values })),
  };
}

const perOctave = 32;

/** Counts of positive numbers in buckets that grow by a thirty-second of an octave: a quantile is at most 2.2 % off, whatever the count. */
class Histogram {
  readonly #counts = new Map<number, number>();
  #zero = 0;
  #total = 0;

  add(value: number): void {
    this.#total++;
    if (value > 0) {
      const bucket = Math.ceil(Math.log2(value) * perOctave);
      this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    } else {
      this.#zero++;
    }
  }

  /** NaN of nothing. */
  quantile(q: number): number {
    if (this.#total === 0) {
      return NaN;
    }
    const rank = q * this.#total;
    let seen = this.#zero;
    if (rank <= seen && seen > 0) {
      return 0;
    }
    const buckets = [...this.#counts].sort(([a], [b]) => a - b);
    for (const [bucket, count] of buckets) {
      if (seen + count >= rank) {
        return 2 ** ((bucket - 1 + (rank - seen) / count) / perOctave);
      }
      seen += count;
    }
    return 2 ** ((buckets.at(-1)?.[0] ?? 0) / perOctave);
  }
}

/** The power of two that is the upper bound of a number's bucket; 0 for what is not above it. */
const octave = (value: number): number => (value > 0 ? 2 ** Math.ceil(Math.log2(value)) : 0);
