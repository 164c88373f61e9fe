import { boundOf } from './buckets.ts';
import {
  isCustom,
  type NativeHistogram,
  type ResetHint,
  sameNumbers,
  type Side,
} from './histogram.ts';
import { aligned, reduced, widened } from './layout.ts';

/**
 * Returns whether a counter was reset between two histograms: some count fell, or buckets became
 * finer.
 */
export function isReset(before: NativeHistogram, now: NativeHistogram): boolean {
  if (now.hint === 'reset' || now.hint === 'not_reset') {
    return now.hint === 'reset';
  }
  if (now.count < before.count || (isCustom(now) && !isCustom(before))) {
    return true;
  }
  if (isCustom(now) && !sameNumbers(now.bounds, before.bounds)) {
    const { left, right } = aligned(before, now)!;
    return falls(left.positive, right.positive);
  }
  if (now.schema > before.schema || now.zeroThreshold < before.zeroThreshold) {
    return true;
  }
  const wide = widened(before, now.zeroThreshold);
  if (wide.zeroThreshold !== now.zeroThreshold || now.zeroCount < wide.zeroCount) {
    return true;
  }
  const same = reduced(wide, now.schema);
  const outside = (side: Side): Side =>
    side.filter(([index]) => isCustom(now) || boundOf(now, index) > now.zeroThreshold);
  return falls(outside(same.positive), now.positive) || falls(outside(same.negative), now.negative);
}

function falls(before: Side, now: Side): boolean {
  const counts = new Map(now);
  return before.some(([index, count]) => (counts.get(index) ?? 0) < count);
}

/**
 * Start value of a counter that was reset: nothing observed, in the buckets of another histogram.
 */
export const emptyLike = ({ schema, bounds }: NativeHistogram): NativeHistogram => ({
  schema,
  bounds,
  count: 0,
  sum: 0,
  zeroCount: 0,
  zeroThreshold: 0,
  positive: [],
  negative: [],
  hint: 'unknown',
});

/**
 * Returns the hint that a store gives a histogram: it knows of counters where one continues from
 * the previous sample, and nothing else.
 */
export function hintAfter(before: NativeHistogram | undefined, now: NativeHistogram): ResetHint {
  if (now.hint === 'gauge') {
    return 'gauge';
  }
  const goesOn =
    before !== undefined &&
    before.hint !== 'gauge' &&
    before.schema === now.schema &&
    before.zeroThreshold === now.zeroThreshold;
  return goesOn &&
    now.hint !== 'reset' &&
    sameNumbers(before.bounds, now.bounds) &&
    !isReset(before, { ...now, hint: 'unknown' })
    ? 'not_reset'
    : 'unknown';
}
