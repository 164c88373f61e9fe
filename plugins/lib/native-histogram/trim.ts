import { type Bucket, boundOf, shareBelow } from './buckets.ts';
import { isCustom, type NativeHistogram, populated, type Side } from './histogram.ts';

/** Rest of a bucket after a cut, with the average of its observations. */
interface Kept {
  readonly count: number;
  readonly middle: number;
}

/**
 * Drops the observations above a value, or those below it. What was cut gets a new count and sum,
 * computed from its buckets.
 */
export function trimmed(histogram: NativeHistogram, at: number, upper: boolean): NativeHistogram {
  const { positive, negative, zeroCount, zeroThreshold } = histogram;
  const keep = (bucket: Bucket, above: boolean): Kept =>
    keptOf(bucket, at, upper, above, isCustom(histogram));
  const above = positive.map(([index, count]) =>
    keep({ lower: boundOf(histogram, index - 1), upper: boundOf(histogram, index), count }, true),
  );
  const below = negative.map(([index, count]) =>
    keep(
      { lower: -boundOf(histogram, index), upper: -boundOf(histogram, index - 1), count },
      false,
    ),
  );
  const zero = {
    lower: positive.length > 0 && negative.length === 0 ? 0 : -zeroThreshold,
    upper: negative.length > 0 && positive.length === 0 ? 0 : zeroThreshold,
    count: zeroCount,
  };
  const center = zeroCount > 0 ? keptOfZero(zero, at, upper) : { count: zeroCount, middle: 0 };
  const isCut = (side: Side, kept: readonly Kept[]): boolean =>
    side.some(([, count], index) => count !== kept[index]!.count);
  if (center.count === zeroCount && !isCut(positive, above) && !isCut(negative, below)) {
    return histogram;
  }
  const all = [...above, ...below, ...(zeroCount > 0 ? [center] : [])];
  const side = (before: Side, kept: readonly Kept[]): Side =>
    populated(before.map(([index], place) => [index, kept[place]!.count]));
  return {
    ...histogram,
    count: all.reduce((sum, { count }) => sum + count, 0),
    sum: all.reduce((sum, { count, middle }) => sum + middle * count, 0),
    zeroCount: center.count,
    positive: side(positive, above),
    negative: side(negative, below),
  };
}

function keptOf(bucket: Bucket, at: number, upper: boolean, above: boolean, evenly: boolean): Kept {
  const whole = upper ? bucket.upper <= at : bucket.lower >= at;
  const cut = upper ? bucket.lower < at : bucket.upper > at;
  if (whole) {
    return { count: bucket.count, middle: middleOf(bucket.lower, bucket.upper, above, evenly) };
  }
  if (!cut) {
    return { count: 0, middle: 0 };
  }
  if (bucket.lower === -Infinity || bucket.upper === Infinity) {
    return keptOfOpen(bucket, at, upper);
  }
  const under = bucket.count * shareBelow(bucket, at, evenly);
  return upper
    ? { count: under, middle: middleOf(bucket.lower, at, above, evenly) }
    : { count: bucket.count - under, middle: middleOf(at, bucket.upper, above, evenly) };
}

/**
 * Trims an open bucket. The distribution towards infinity is unknown, so the cut takes all of it,
 * unless zero can serve as the end.
 */
function keptOfOpen({ lower, upper: end, count }: Bucket, at: number, upper: boolean): Kept {
  if (lower === -Infinity && end > 0 && end !== Infinity && at >= 0) {
    if (upper) {
      return at > 0 ? { count: (count * at) / end, middle: at / 2 } : { count: 0, middle: 0 };
    }
    return { count: count * (1 - at / end), middle: (at + end) / 2 };
  }
  if (lower === -Infinity) {
    return upper && end <= 0 ? { count, middle: at } : { count: 0, middle: 0 };
  }
  return !upper && at >= lower ? { count, middle: at } : { count: 0, middle: 0 };
}

function keptOfZero({ lower, upper: end, count }: Bucket, at: number, upper: boolean): Kept {
  if (upper ? at <= lower : at > lower && at >= end) {
    return { count: 0, middle: 0 };
  }
  if (upper ? at >= end : at <= lower) {
    return { count, middle: (lower + end) / 2 };
  }
  const [from, to] = upper ? [lower, at] : [at, end];
  return { count: (count * (to - from)) / (end - lower), middle: (from + to) / 2 };
}

function middleOf(lower: number, upper: number, above: boolean, evenly: boolean): number {
  if (Math.abs(lower) === Infinity || Math.abs(upper) === Infinity) {
    const end = Math.abs(lower) === Infinity ? upper : lower;
    return Math.abs(end) === Infinity ? 0 : Math.abs(lower) === Infinity && end > 0 ? end / 2 : end;
  }
  return evenly ? (lower + upper) / 2 : (above ? 1 : -1) * Math.sqrt(Math.abs(lower * upper));
}
