import { type Budget, CompensatedSum } from 'svc/query';

import { quantileOf, quantileOfMany } from './quantile.ts';
import { mostInOrder, sweepExtreme, sweepQuantile } from './sliding.ts';
import type { RangeFunction, Window } from './window.ts';

const sum = new CompensatedSum();

function sumOverTime({ values, from, to }: Window): number {
  sum.reset();
  for (let i = from; i < to; i++) {
    sum.add(values[i]!);
  }
  return sum.value;
}

/** The sum divided by the count, or, once the sum leaves what a number can hold, the mean carried from sample to sample. */
function averageOverTime({ values, from, to }: Window): number {
  sum.reset(values[from]);
  for (let i = from + 1; i < to; i++) {
    const { total, lost } = sum;
    sum.add(values[i]!);
    if (sum.total === Infinity || sum.total === -Infinity) {
      sum.reset(total / (i - from), lost / (i - from));
      return incrementalMean(values, i, from, to);
    }
  }
  const count = to - from;
  return sum.total / count + sum.lost / count;
}

function incrementalMean(values: Float64Array, next: number, from: number, to: number): number {
  for (let i = next; i < to; i++) {
    const count = i - from + 1;
    const share = (count - 1) / count;
    sum.reset(share * sum.total, share * sum.lost);
    sum.add(values[i]! / count);
  }
  return sum.total + sum.lost;
}

const meanRest = new CompensatedSum();

function variance({ values, from, to }: Window): number {
  sum.reset();
  meanRest.reset();
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    const delta = value - (meanRest.total + meanRest.lost);
    meanRest.add(delta / (i - from + 1));
    sum.add(delta * (value - (meanRest.total + meanRest.lost)));
  }
  return (sum.total + sum.lost) / (to - from);
}

/** Position of the extreme; NaN gives way to everything. */
function extreme(
  { values, from, to }: Window,
  wins: (value: number, best: number) => boolean,
): number {
  let best = from;
  for (let i = from; i < to; i++) {
    if (wins(values[i]!, values[best]!) || Number.isNaN(values[best]!)) {
      best = i;
    }
  }
  return best;
}

let scratch = new Float64Array(256);

/** A copy that is good until the next one. */
function copied(values: Float64Array, from: number, to: number): Float64Array {
  const count = to - from;
  if (scratch.length < count) {
    scratch = new Float64Array(2 * count);
  }
  for (let i = 0; i < count; i++) {
    scratch[i] = values[from + i]!;
  }
  return scratch.subarray(0, count);
}

function medianDeviation({ values, from, to }: Window): number {
  const sorted = values.slice(from, to);
  if (sorted.some(Number.isNaN)) {
    return NaN;
  }
  const median = quantileOf(0.5, sorted);
  return quantileOf(
    0.5,
    sorted.map((value) => Math.abs(value - median)),
  );
}

async function medianDeviationOfMany(
  { values, from, to }: Window,
  budget: Budget,
): Promise<number> {
  const sorted = values.slice(from, to);
  if (sorted.some(Number.isNaN)) {
    return NaN;
  }
  const median = await quantileOfMany(0.5, sorted, budget);
  const distances = sorted.map((value) => Math.abs(value - median));
  return await quantileOfMany(0.5, distances, budget);
}

/** Computes the smoothed value and trend, each a mix of old and new. */
function doubleSmoothing({ values, from, to, a: smoothing, b: trending }: Window): number {
  let before = 0;
  let smoothed = values[from]!;
  let trend = values[from + 1]! - smoothed;
  for (let i = from + 1; i < to; i++) {
    if (i > from + 1) {
      trend = trending * (smoothed - before) + (1 - trending) * trend;
    }
    const next = smoothing * values[i]! + (1 - smoothing) * (smoothed + trend);
    before = smoothed;
    smoothed = next;
  }
  return smoothed;
}

const seconds = ({ times }: Window, index: number): number => times[index]! / 1000;
const less = (a: number, b: number): boolean => a < b;
const more = (a: number, b: number): boolean => a > b;
const notMore = (a: number, b: number): boolean => a <= b;
const notLess = (a: number, b: number): boolean => a >= b;

export const overTimeFunctions: Readonly<Record<string, RangeFunction>> = {
  sum_over_time: { least: 1, compute: sumOverTime },
  avg_over_time: { least: 1, compute: averageOverTime },
  count_over_time: { least: 1, thinned: 'plain', compute: (window) => window.count },
  present_over_time: { least: 1, thinned: 'plain', compute: () => 1 },
  absent_over_time: { least: 1, thinned: 'plain', compute: () => 1 },
  last_over_time: {
    least: 1,
    thinned: 'plain',
    keepsName: true,
    compute: ({ values, to }) => values[to - 1],
  },
  first_over_time: {
    least: 1,
    thinned: 'plain',
    keepsName: true,
    compute: ({ values, from }) => values[from],
  },
  min_over_time: {
    least: 1,
    thinned: 'plain',
    compute: (window) => window.values[extreme(window, less)],
    sweep: (course, values, present) => sweepExtreme(course, values, present, -1),
  },
  max_over_time: {
    least: 1,
    thinned: 'plain',
    compute: (window) => window.values[extreme(window, more)],
    sweep: (course, values, present) => sweepExtreme(course, values, present, 1),
  },
  stdvar_over_time: { least: 1, compute: variance },
  stddev_over_time: { least: 1, compute: (window) => Math.sqrt(variance(window)) },
  mad_over_time: { least: 1, compute: medianDeviation, computeMany: medianDeviationOfMany },
  quantile_over_time: {
    least: 1,
    compute: ({ values, from, to, a }) => quantileOf(a, copied(values, from, to)),
    computeMany: ({ values, from, to, a }, budget) =>
      quantileOfMany(a, values.slice(from, to), budget),
    sweep: (course, values, present, [q]) => sweepQuantile(course, values, present, q!),
    sweepsWith: ([q]) => q!.every((one) => one >= 0 && one <= 1),
    mostSwept: mostInOrder,
  },
  ts_of_first_over_time: {
    least: 1,
    thinned: 'plain',
    compute: (window) => seconds(window, window.from),
  },
  ts_of_last_over_time: {
    least: 1,
    thinned: 'plain',
    compute: (window) => seconds(window, window.to - 1),
  },
  ts_of_min_over_time: { least: 1, compute: (window) => seconds(window, extreme(window, notMore)) },
  ts_of_max_over_time: { least: 1, compute: (window) => seconds(window, extreme(window, notLess)) },
  double_exponential_smoothing: { least: 2, compute: doubleSmoothing },
};
