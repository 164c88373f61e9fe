import { formatGoFloat } from 'svc/template';

import { customSchema, isCustom, type NativeHistogram } from './histogram.ts';

export interface Bucket {
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
}

/** The bound of a bucket that is further from zero. */
export function boundOf(
  { schema, bounds }: Pick<NativeHistogram, 'schema' | 'bounds'>,
  index: number,
): number {
  if (schema === customSchema) {
    return index < 0 ? -Infinity : (bounds[index] ?? Infinity);
  }
  const exponent = index / 2 ** schema;
  // The last bucket of numbers ends at the largest of them; infinities have the one behind it.
  return exponent === 1024 ? Number.MAX_VALUE : 2 ** exponent;
}

/** All populated buckets from the least to the greatest. Where the bucket of zero reaches into another, that one begins at its end. */
export function bucketsOf(histogram: NativeHistogram): Bucket[] {
  const { negative, positive, zeroCount, zeroThreshold } = histogram;
  const far = (index: number): number => boundOf(histogram, index);
  const near = (index: number): number => {
    const bound = boundOf(histogram, index - 1);
    return bound > 0 && bound < zeroThreshold ? zeroThreshold : bound;
  };
  return [
    ...negative
      .toReversed()
      .map(([index, count]) => ({ lower: -far(index), upper: -near(index), count })),
    ...(zeroCount > 0 && !isCustom(histogram)
      ? [{ lower: -zeroThreshold, upper: zeroThreshold, count: zeroCount }]
      : []),
    ...positive.map(([index, count]) => ({ lower: near(index), upper: far(index), count })),
  ];
}

/**
 * Returns the share of a bucket below a number inside it: distributed evenly, or as finer buckets
 * would show it.
 */
export function shareBelow({ lower, upper }: Bucket, value: number, evenly: boolean): number {
  if (evenly) {
    return (value - lower) / (upper - lower);
  }
  const [low, high, at] = [lower, upper, value].map((one) => Math.log2(Math.abs(one))) as [
    number,
    number,
    number,
  ];
  return value > 0 ? (at - low) / (high - low) : 1 - (at - high) / (low - high);
}

/**
 * Formats a histogram as in labels of `count_values` and templates of alerts: `{count:3, sum:4.5,
 * [-0.1,0.1]:1, (1,2]:2}`.
 */
export function histogramText(histogram: NativeHistogram): string {
  const custom = isCustom(histogram);
  const { zeroThreshold } = histogram;
  // With the natural bounds of buckets, even where the zero bucket overlaps one.
  const buckets = bucketsOf({ ...histogram, zeroThreshold: 0 }).map(({ lower, upper, count }) => {
    const [from, to] = lower === upper ? [-zeroThreshold, zeroThreshold] : [lower, upper];
    const open = custom ? from === -Infinity : from < 0 || lower === upper;
    return `${open ? '[' : '('}${general(from)},${general(to)}${custom || to > 0 || lower === upper ? ']' : ')'}:${general(count)}`;
  });
  return `{${[`count:${general(histogram.count)}`, `sum:${general(histogram.sum)}`, ...buckets].join(', ')}}`;
}

const general = (value: number): string => formatGoFloat(value, 'g');
