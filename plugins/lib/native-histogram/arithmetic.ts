import { HistogramSum } from './histogram-sum.ts';
import { type NativeHistogram, populated, type Side } from './histogram.ts';

function mapped(histogram: NativeHistogram, change: (count: number) => number): NativeHistogram {
  const side = (counts: Side): Side =>
    populated(counts.map(([index, count]) => [index, change(count)]));
  const { count, sum, zeroCount, positive, negative } = histogram;
  return {
    ...histogram,
    count: change(count),
    sum: change(sum),
    zeroCount: change(zeroCount),
    positive: side(positive),
    negative: side(negative),
  };
}

/** Scales a histogram; a factor below zero makes it a gauge. */
const turned = (histogram: NativeHistogram, factor: number): NativeHistogram =>
  factor < 0 ? { ...histogram, hint: 'gauge' } : histogram;

export const times = (histogram: NativeHistogram, factor: number): NativeHistogram =>
  turned(
    mapped(histogram, (count) => count * factor),
    factor,
  );

/** Divides a histogram; division by zero leaves no buckets. */
export function over(histogram: NativeHistogram, divisor: number): NativeHistogram {
  const divided = mapped(histogram, (count) => count / divisor);
  return divisor === 0 ? { ...divided, positive: [], negative: [] } : turned(divided, divisor);
}

export interface Combined {
  readonly value: NativeHistogram;
  /** True if one of them was reset where the other was not. */
  readonly collided: boolean;
  readonly reconciled: boolean;
}

/** The sum or the difference; undefined for exponential buckets and custom ones. */
export function combined(
  a: NativeHistogram,
  b: NativeHistogram,
  sign: 1 | -1,
): Combined | undefined {
  const sum = new HistogramSum(a);
  return sum.add(b, sign)
    ? { value: sum.value(), collided: sum.collided, reconciled: sum.reconciled }
    : undefined;
}

/**
 * Returns the mean of one or more histograms; undefined as with `combined`. If their sum exceeds
 * what a number can hold, the share of each is summed up.
 */
export function meanOf(
  histograms: readonly NativeHistogram[],
): { readonly value: NativeHistogram; readonly reconciled: boolean } | undefined {
  const [first, ...rest] = histograms as [NativeHistogram, ...NativeHistogram[]];
  const sum = new HistogramSum(first);
  if (!rest.every((one) => sum.add(one))) {
    return undefined;
  }
  const value = sum.value(histograms.length);
  const { reconciled } = sum;
  if (isFinite(value) || rest.length === 0) {
    return { value, reconciled };
  }
  const shares = new HistogramSum(over(first, histograms.length));
  rest.forEach((one) => shares.add(over(one, histograms.length)));
  return { value: shares.value(), reconciled };
}

function isFinite({ count, sum, zeroCount, positive, negative }: NativeHistogram): boolean {
  return [count, sum, zeroCount, ...[...positive, ...negative].map(([, one]) => one)].every(
    (one) => Math.abs(one) !== Infinity,
  );
}
