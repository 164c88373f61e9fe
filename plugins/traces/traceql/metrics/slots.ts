import type { MetricsStage } from '../parse/ast.ts';
import type { Attribute } from '../spans/span.ts';
import type { SeriesBound } from './series-bound.ts';

export const histogram = 'histogram_over_time';
/** Functions whose series have a number in every slot. */
export const fromZero: ReadonlySet<string> = new Set(['rate', 'count_over_time']);
/** The upper bound of a bucket. */
export const bucketLabel = '__bucket';

/** Aggregates of one group, slot by slot. */
export interface Slots {
  /**
   * Adds a value. A duration is given in seconds, and also as nanoseconds, whose buckets double.
   */
  add(slot: number, value: number, nanoseconds?: number): void;
  series(
    stepSeconds: number,
  ): readonly { readonly label: Attribute | undefined; readonly values: Float64Array }[];
}

/** Makes the slots of one group for a metrics function. */
export function slotsFor(stage: MetricsStage, count: number, bound: SeriesBound): () => Slots {
  const counted = (rows: number): number => (bound.series(1), bound.rows(rows), count);
  switch (stage.function) {
    case 'rate':
      return () =>
        new FoldedSlots(counted(1), {
          initial: 0,
          fold: (sum) => sum + 1,
          finish: (sum, seconds) => sum / seconds,
        });
    case 'count_over_time':
      return () => new FoldedSlots(counted(1), { initial: 0, fold: (sum) => sum + 1 });
    case 'sum_over_time':
      return () =>
        new FoldedSlots(counted(1), {
          initial: NaN,
          fold: (sum, value) => (Number.isNaN(sum) ? value : sum + value),
        });
    case 'min_over_time':
      return () =>
        new FoldedSlots(counted(1), {
          initial: NaN,
          fold: (least, value) => (least <= value ? least : value),
        });
    case 'max_over_time':
      return () =>
        new FoldedSlots(counted(1), {
          initial: NaN,
          fold: (most, value) => (most >= value ? most : value),
        });
    case 'avg_over_time':
      return () => new AverageSlots(counted(2));
    case 'quantile_over_time':
      return () => new QuantileSlots(count, stage.quantiles, bound);
    case 'histogram_over_time':
      return () => new BucketSlots(count, bound);
  }
}

interface FoldRules {
  readonly initial: number;
  readonly fold: (so: number, value: number) => number;
  readonly finish?: (value: number, seconds: number) => number;
}

class FoldedSlots implements Slots {
  readonly #rules: FoldRules;
  readonly #values: Float64Array;

  constructor(count: number, rules: FoldRules) {
    this.#rules = rules;
    this.#values = new Float64Array(count).fill(rules.initial);
  }

  add(slot: number, value: number): void {
    this.#values[slot] = this.#rules.fold(this.#values[slot]!, value);
  }

  series(seconds: number): ReturnType<Slots['series']> {
    const { finish } = this.#rules;
    return [
      {
        label: undefined,
        values:
          finish === undefined
            ? this.#values.slice()
            : this.#values.map((value) => finish(value, seconds)),
      },
    ];
  }
}

class AverageSlots implements Slots {
  readonly #sums: Float64Array;
  readonly #counts: Float64Array;

  constructor(count: number) {
    this.#sums = new Float64Array(count);
    this.#counts = new Float64Array(count);
  }

  add(slot: number, value: number): void {
    this.#sums[slot]! += value;
    this.#counts[slot]!++;
  }

  series(): ReturnType<Slots['series']> {
    return [{ label: undefined, values: this.#sums.map((sum, slot) => sum / this.#counts[slot]!) }];
  }
}

class QuantileSlots implements Slots {
  readonly #count: number;
  readonly #wanted: readonly number[];
  readonly #histograms = new Map<number, Histogram>();

  constructor(count: number, wanted: readonly number[], bound: SeriesBound) {
    bound.series(wanted.length);
    bound.rows(wanted.length);
    this.#count = count;
    this.#wanted = wanted;
  }

  add(slot: number, value: number): void {
    let found = this.#histograms.get(slot);
    if (found === undefined) {
      found = new Histogram();
      this.#histograms.set(slot, found);
    }
    found.add(value);
  }

  series(): ReturnType<Slots['series']> {
    return this.#wanted.map((q) => ({
      label: { key: 'p', value: { type: 'float', value: q } },
      values: Float64Array.from(
        { length: this.#count },
        (_, slot) => this.#histograms.get(slot)?.quantile(q) ?? NaN,
      ),
    }));
  }
}

class BucketSlots implements Slots {
  readonly #count: number;
  readonly #bound: SeriesBound;
  /** Counts by the upper bounds of buckets. */
  readonly #counts = new Map<number, Float64Array>();

  constructor(count: number, bound: SeriesBound) {
    this.#count = count;
    this.#bound = bound;
  }

  add(slot: number, value: number, nanoseconds?: number): void {
    const bound = nanoseconds === undefined ? octave(value) : octave(nanoseconds) / 1e9;
    let counts = this.#counts.get(bound);
    if (counts === undefined) {
      this.#bound.series(1);
      this.#bound.rows(1);
      counts = new Float64Array(this.#count);
      this.#counts.set(bound, counts);
    }
    counts[slot]!++;
  }

  series(): ReturnType<Slots['series']> {
    return [...this.#counts]
      .sort(([a], [b]) => a - b)
      .map(([bound, values]) => ({
        label: { key: bucketLabel, value: { type: 'float', value: bound } },
        values,
      }));
  }
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

/**
 * Returns the power of two that is the upper bound of a number's bucket; 0 for one that is not
 * positive.
 */
const octave = (value: number): number => (value > 0 ? 2 ** Math.ceil(Math.log2(value)) : 0);
