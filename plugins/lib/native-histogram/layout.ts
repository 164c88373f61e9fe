import { boundOf } from './buckets.ts';
import { isCustom, type NativeHistogram, populated, sameNumbers, type Side } from './histogram.ts';

/** Buckets whose places fall together become one. */
function merged(side: Side, place: (index: number) => number): Side {
  const result: [index: number, count: number][] = [];
  for (const [index, count] of side) {
    const at = place(index);
    const last = result.at(-1);
    if (last !== undefined && last[0] === at) {
      last[1] += count;
    } else {
      result.push([at, count]);
    }
  }
  return populated(result);
}

/** Merges into wider buckets; only possible for exponential ones. */
export function reduced(histogram: NativeHistogram, schema: number): NativeHistogram {
  if (histogram.schema === schema) {
    return histogram;
  }
  const place = (index: number): number => ((index - 1) >> (histogram.schema - schema)) + 1;
  return {
    ...histogram,
    schema,
    positive: merged(histogram.positive, place),
    negative: merged(histogram.negative, place),
  };
}

/**
 * Widens the zero bucket to at least this width. It has to end at a bucket boundary, so it may
 * become wider.
 */
export function widened(histogram: NativeHistogram, least: number): NativeHistogram {
  if (least === histogram.zeroThreshold) {
    return histogram;
  }
  const { positive, negative } = histogram;
  const begins = (index: number): number => boundOf(histogram, index - 1);
  let threshold = least;
  for (;;) {
    const swallowed = [...positive, ...negative].filter(([index]) => begins(index) < threshold);
    const end = swallowed.reduce(
      (most, [index]) => Math.max(most, boundOf(histogram, index)),
      threshold,
    );
    if (end === threshold) {
      const left = (side: Side): Side => side.filter(([index]) => begins(index) >= threshold);
      const zeroCount = swallowed.reduce((sum, [, count]) => sum + count, histogram.zeroCount);
      return {
        ...histogram,
        zeroThreshold: threshold,
        zeroCount,
        positive: left(positive),
        negative: left(negative),
      };
    }
    threshold = end;
  }
}

/** Keeps only some of the bounds. */
function rebounded(histogram: NativeHistogram, bounds: readonly number[]): NativeHistogram {
  const place = (index: number): number => {
    const at = bounds.findIndex((bound) => bound >= boundOf(histogram, index));
    return at === -1 ? bounds.length : at;
  };
  return { ...histogram, bounds, positive: merged(histogram.positive, place) };
}

export interface Aligned {
  readonly left: NativeHistogram;
  readonly right: NativeHistogram;
  /** True if bounds had to be dropped that only one of them has. */
  readonly reconciled: boolean;
}

/**
 * Converts both to the buckets that they share; undefined for exponential and custom ones, which
 * share none.
 */
export function aligned(a: NativeHistogram, b: NativeHistogram): Aligned | undefined {
  if (isCustom(a) !== isCustom(b)) {
    return undefined;
  }
  if (isCustom(a)) {
    if (sameNumbers(a.bounds, b.bounds)) {
      return { left: a, right: b, reconciled: false };
    }
    const both = new Set(b.bounds);
    const bounds = a.bounds.filter((bound) => both.has(bound));
    return { left: rebounded(a, bounds), right: rebounded(b, bounds), reconciled: true };
  }
  let [left, right] = [a, b];
  while (left.zeroThreshold !== right.zeroThreshold) {
    left = widened(left, Math.max(left.zeroThreshold, right.zeroThreshold));
    right = widened(right, Math.max(left.zeroThreshold, right.zeroThreshold));
  }
  const schema = Math.min(left.schema, right.schema);
  return { left: reduced(left, schema), right: reduced(right, schema), reconciled: false };
}
