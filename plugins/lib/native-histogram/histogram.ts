/** Relation between a histogram and the previous one of its series. */
export type ResetHint = 'unknown' | 'reset' | 'not_reset' | 'gauge';

export type BucketCount = readonly [index: number, count: number];

/** The populated buckets of one side, in the order of their indexes, which lead away from zero. */
export type Side = readonly BucketCount[];

/**
 * Distribution of observations, as one sample of a series. A plain object, so that it crosses
 * threads.
 */
export interface NativeHistogram {
  /** Each power of two is divided into 2^schema buckets; or `customSchema`. */
  readonly schema: number;
  readonly count: number;
  readonly sum: number;
  readonly zeroCount: number;
  /** Max distance from zero of observations in the zero bucket. */
  readonly zeroThreshold: number;
  readonly positive: Side;
  readonly negative: Side;
  /** Upper bounds of the buckets of a custom schema; the last bucket, to infinity, has none. Otherwise empty. */
  readonly bounds: readonly number[];
  readonly hint: ResetHint;
}

export const customSchema = -53;
export const leastSchema = -4;
export const maxSchema = 8;

export const isCustom = ({ schema }: NativeHistogram): boolean => schema === customSchema;

export const populated = (side: Side): Side => side.filter(([, count]) => count !== 0);

export const sameNumbers = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((one, index) => one === b[index]);

/** Returns whether two histograms are equal, bit for bit, whatever their hints. */
export function sameHistogram(a: NativeHistogram, b: NativeHistogram): boolean {
  return (
    a.schema === b.schema &&
    a.zeroThreshold === b.zeroThreshold &&
    [a.count, a.sum, a.zeroCount].every((one, index) =>
      Object.is(one, [b.count, b.sum, b.zeroCount][index]),
    ) &&
    sameNumbers(a.bounds, b.bounds) &&
    sameSide(a.positive, b.positive) &&
    sameSide(a.negative, b.negative)
  );
}

function sameSide(a: Side, b: Side): boolean {
  return (
    a.length === b.length &&
    a.every(([index, count], at) => index === b[at]![0] && Object.is(count, b[at]![1]))
  );
}
