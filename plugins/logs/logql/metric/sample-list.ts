import type { Labels } from 'svc/query';

import type { SampleSeries } from './cell-series.ts';
import { emptyRow, put, type Row } from './matrix.ts';
import type { Windows } from './windows.ts';

/** Function of all samples of a window; times in milliseconds, both in order of time. */
export type Summary = (
  times: Float64Array,
  values: Float64Array,
  opens: number,
  closes: number,
) => number | undefined;

/** Keeps every sample, for the operations that cannot do with less. */
export class SampleList implements SampleSeries {
  readonly labels: Labels;
  readonly #summary: Summary;
  readonly #times: number[] = [];
  readonly #values: number[] = [];

  constructor(labels: Labels, summary: Summary) {
    this.labels = labels;
    this.#summary = summary;
  }

  add(_cell: number, value: number, ms: number, ns: number): number {
    this.#times.push(ms + ns / 1e6);
    this.#values.push(value);
    return 1;
  }

  row(windows: Windows): Row {
    const [unsorted, values] = [this.#times, this.#values];
    const order = Uint32Array.from(unsorted.keys()).sort(
      (a, b) => unsorted[a]! - unsorted[b]! || a - b,
    );
    const times = Float64Array.from(order, (index) => unsorted[index]!);
    const ordered = Float64Array.from(order, (index) => values[index]!);
    const row = emptyRow(this.labels, windows.count);
    let low = 0;
    let high = 0;
    for (let step = 0; step < windows.count; step++) {
      const opens = windows.opens[step]!;
      const closes = windows.closes[step]!;
      while (high < times.length && times[high]! <= closes) {
        high += 1;
      }
      while (low < high && times[low]! <= opens) {
        low += 1;
      }
      const value =
        low < high
          ? this.#summary(times.subarray(low, high), ordered.subarray(low, high), opens, closes)
          : undefined;
      if (value !== undefined) {
        put(row, step, value);
      }
    }
    return row;
  }
}

export function quantile(q: number): Summary {
  return (_times, values) => {
    if (Number.isNaN(q)) {
      return NaN;
    }
    if (q < 0 || q > 1) {
      return q < 0 ? -Infinity : Infinity;
    }
    const sorted = values.slice().sort();
    const rank = q * (sorted.length - 1);
    const lower = Math.floor(rank);
    const upper = Math.min(sorted.length - 1, lower + 1);
    const weight = rank - lower;
    return sorted[lower]! * (1 - weight) + sorted[upper]! * weight;
  };
}

/**
 * Per second, for counters: resets add up, and the ends of the window are filled in as far as the samples reach towards
 * them, though never to before the counter was at zero. One sample has not risen.
 */
export const counterRate: Summary = (times, values, opens, closes) => {
  const last = values.length - 1;
  if (last < 1) {
    return 0;
  }
  let increase = values[last]! - values[0]!;
  for (let i = 1; i <= last; i++) {
    increase += values[i]! < values[i - 1]! ? values[i - 1]! : 0;
  }
  const span = (times[last]! - times[0]!) / 1000;
  const between = span / last;
  const most = between * 1.1;
  const reached = (gap: number): number => (gap < most ? gap : between / 2);
  let before = reached((times[0]! - opens) / 1000);
  const after = reached((closes - times[last]!) / 1000);
  if (increase > 0 && values[0]! >= 0) {
    before = Math.min(before, span * (values[0]! / increase));
  }
  return (increase * ((before + span + after) / span)) / ((closes - opens) / 1000);
};
