import { metricName } from 'svc/query';

import { type HeadIndex } from './head-index.ts';

/** Something that takes part in the number of series, and how much of it there is. */
export interface Counted {
  readonly name: string;
  readonly value: number;
}

/** Labels of the series of the head in figures, as `status/tsdb` of Prometheus counts them. */
export interface Cardinality {
  readonly labelPairs: number;
  readonly seriesByMetric: readonly Counted[];
  readonly valuesByLabel: readonly Counted[];
  /** Bytes of the distinct values of a label. */
  readonly bytesByLabel: readonly Counted[];
  readonly seriesByPair: readonly Counted[];
}

/** Counts the labels of all series; each list holds the first `limit`, largest first. */
export function cardinality(index: HeadIndex, limit: number): Cardinality {
  const pairs = new PairCounts(index.symbols);
  index.eachPair((name, value) => pairs.add(name, value));
  const metric = index.symbolOf(metricName);
  const values = new Map<number, { values: number; bytes: number }>();
  const byMetric = new Largest(limit);
  const byPair = new Largest(limit);
  let labelPairs = 0;
  pairs.each((name, value, series) => {
    labelPairs++;
    const text = index.symbol(value);
    const label = values.get(name) ?? { values: 0, bytes: 0 };
    values.set(name, label);
    label.values++;
    label.bytes += Buffer.byteLength(text);
    byPair.offer(series, () => `${index.symbol(name)}=${text}`);
    if (name === metric) {
      byMetric.offer(series, () => text);
    }
  });
  const byLabel = (
    of: (label: { values: number; bytes: number }) => number,
  ): readonly Counted[] => {
    const largest = new Largest(limit);
    values.forEach((label, name) => largest.offer(of(label), () => index.symbol(name)));
    return largest.list();
  };
  return {
    labelPairs,
    seriesByMetric: byMetric.list(),
    valuesByLabel: byLabel((label) => label.values),
    bytesByLabel: byLabel((label) => label.bytes),
    seriesByPair: byPair.list(),
  };
}

/**
 * Series of each pair of a name and a value. Almost every text is the value of one name only: those
 * are counted by the value, in two flat arrays.
 */
class PairCounts {
  readonly #names: Uint32Array;
  readonly #series: Uint32Array;
  readonly #others = new Map<number, Map<number, number>>();

  constructor(symbols: number) {
    this.#names = new Uint32Array(symbols);
    this.#series = new Uint32Array(symbols);
  }

  add(name: number, value: number): void {
    if (this.#series[value] === 0) {
      this.#names[value] = name;
    } else if (this.#names[value] !== name) {
      const counts = this.#others.get(value) ?? new Map<number, number>();
      this.#others.set(value, counts);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return;
    }
    this.#series[value]!++;
  }

  each(visit: (name: number, value: number, series: number) => void): void {
    this.#series.forEach(
      (series, value) => series > 0 && visit(this.#names[value]!, value, series),
    );
    this.#others.forEach((counts, value) =>
      counts.forEach((series, name) => visit(name, value, series)),
    );
  }
}

/** The largest of many, without a list of them all. */
class Largest {
  readonly #limit: number;
  #kept: Counted[] = [];
  /** Value that the next one must exceed. */
  #floor = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(value: number, name: () => string): void {
    if (value > this.#floor) {
      this.#kept.push({ name: name(), value });
      if (this.#kept.length >= this.#limit * 2 + 100) {
        this.#kept = [...this.list()];
        this.#floor = this.#kept.at(-1)!.value;
      }
    }
  }

  list(): readonly Counted[] {
    return this.#kept
      .toSorted((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1))
      .slice(0, this.#limit);
  }
}
