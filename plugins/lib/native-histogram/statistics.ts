import { CompensatedSum } from 'svc/query';

import { type Bucket, bucketsOf, shareBelow } from './buckets.ts';
import { isCustom, type NativeHistogram } from './histogram.ts';

/** A number about a histogram, and what observations that are no numbers did to it: they count, and are in no bucket. */
export interface Statistic {
  readonly value: number;
  readonly unknown?: 'decide' | 'skew';
}

const holdsZero = ({ lower, upper }: Bucket): boolean => lower <= 0 && upper >= 0;

/** The bucket of zero reaches to one side only, where there is nothing on the other. */
function halved({ positive, negative }: NativeHistogram, bucket: Bucket): Bucket {
  if (negative.length === 0 && positive.length > 0) {
    return { ...bucket, lower: 0 };
  }
  return positive.length === 0 && negative.length > 0 ? { ...bucket, upper: 0 } : bucket;
}

/** Returns the variance, taking the content of a bucket to lie in its middle. */
export function varianceOf(histogram: NativeHistogram): number {
  const mean = histogram.sum / histogram.count;
  const squares = new CompensatedSum();
  for (const bucket of bucketsOf(histogram)) {
    const { lower, upper, count } = bucket;
    const middle = isCustom(histogram)
      ? (upper + lower) / 2
      : holdsZero(bucket)
        ? 0
        : Math.sign(upper) * Math.sqrt(upper * lower);
    squares.add(count * (middle - mean) ** 2);
  }
  return (squares.total + squares.lost) / histogram.count;
}

export function quantileOfHistogram(q: number, histogram: NativeHistogram): Statistic {
  const { count: all, sum } = histogram;
  if (q < 0 || q > 1) {
    return { value: q < 0 ? -Infinity : Infinity };
  }
  if (all === 0 || Number.isNaN(q)) {
    return { value: NaN };
  }
  const doubtful = Number.isNaN(sum);
  const upwards = doubtful || q < 0.5;
  const buckets = upwards ? bucketsOf(histogram) : bucketsOf(histogram).reverse();
  const rank = upwards ? q * all : (1 - q) * all;
  let passed = 0;
  let index = -1;
  while (index < buckets.length - 1 && (index === -1 || passed < rank)) {
    passed += buckets[++index]!.count;
  }
  const found = buckets[index] ?? { lower: 0, upper: 0, count: 0 };
  const bucket =
    isCustom(histogram) || !(found.lower < 0 && found.upper > 0) ? found : halved(histogram, found);
  const edge = isCustom(histogram) ? openEdge(bucket) : undefined;
  if (edge !== undefined) {
    return { value: edge };
  }
  passed = Math.min(passed, all);
  if (passed < rank) {
    return doubtful ? { value: NaN, unknown: 'decide' } : { value: bucket.upper };
  }
  const inside = upwards ? rank - (passed - bucket.count) : passed - rank;
  const counted = buckets.slice(index + 1).reduce((total, { count }) => total + count, passed);
  const value = interpolated(
    isCustom(histogram) && bucket.lower === -Infinity ? { ...bucket, lower: 0 } : bucket,
    inside / bucket.count,
    isCustom(histogram),
  );
  return { value, ...(doubtful && counted < all && { unknown: 'skew' }) };
}

/** Returns the only finite bound of an open bucket. */
function openEdge({ lower, upper }: Bucket): number | undefined {
  if (lower === -Infinity) {
    return upper <= 0 ? upper : undefined;
  }
  return upper === Infinity ? lower : undefined;
}

function interpolated(bucket: Bucket, share: number, evenly: boolean): number {
  const { lower, upper } = bucket;
  if (evenly || holdsZero(bucket)) {
    return lower + (upper - lower) * share;
  }
  const [low, high] = [Math.log2(Math.abs(lower)), Math.log2(Math.abs(upper))];
  return lower > 0
    ? 2 ** (low + (high - low) * share)
    : -(2 ** (high + (low - high) * (1 - share)));
}

/** The share of observations between two values. */
export function fractionOf(lower: number, upper: number, histogram: NativeHistogram): Statistic {
  const { count: all } = histogram;
  if (all === 0 || Number.isNaN(lower) || Number.isNaN(upper)) {
    return { value: NaN };
  }
  if (lower >= upper) {
    return { value: 0 };
  }
  const buckets = bucketsOf(histogram);
  const counted = Number.isNaN(histogram.sum)
    ? buckets.reduce((total, { count }) => total + count, 0)
    : all;
  const below = (value: number): number =>
    Math.min(rankOf(value, histogram, buckets) ?? counted, counted);
  return {
    value: (below(upper) - below(lower)) / all,
    ...(counted < all && { unknown: 'decide' }),
  };
}

/** Returns how many observations lie below a value; undefined if it lies above all buckets. */
function rankOf(
  value: number,
  histogram: NativeHistogram,
  buckets: readonly Bucket[],
): number | undefined {
  let rank = 0;
  for (const one of buckets) {
    const bucket = holdsZero(one) ? halved(histogram, one) : one;
    if (bucket.lower >= value) {
      return rank;
    }
    if (bucket.upper > value) {
      const evenly = isCustom(histogram) || holdsZero(one);
      return evenly && bucket.lower === -Infinity
        ? bucket.count
        : rank + bucket.count * shareBelow(bucket, value, evenly);
    }
    rank += bucket.count;
  }
  return undefined;
}
