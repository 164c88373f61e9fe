/** Ranges of histograms that look past their edges, as `edges.ts` has it for numbers. */
import {
  combined,
  HistogramSum,
  isCustom,
  isReset,
  type NativeHistogram,
  over,
  times,
} from 'svc/native-histogram';

import type { Edges } from '../parse/ast.ts';
import type { NativeNotes } from './notes.ts';
import { histogramsOf, type MixedRange, nativeFunctions, type Sample } from './range.ts';

/**
 * Interpolates between two histograms. A counter that was reset in between started at zero.
 * Undefined if their buckets do not match.
 */
export function betweenHistograms(
  a: Point,
  b: Point,
  time: number,
  counter: boolean,
  notes: NativeNotes,
): NativeHistogram | undefined {
  if (time === a.time || time === b.time) {
    return time === a.time ? a.value : b.value;
  }
  const share = (time - a.time) / (b.time - a.time);
  if (counter && isReset(a.value, b.value)) {
    return times(b.value, share);
  }
  const difference = combined(b.value, a.value, -1);
  const result = difference && combined(times(difference.value, share), a.value, 1);
  if (difference?.reconciled) {
    notes.reconciled('subtraction');
  }
  if (result?.reconciled) {
    notes.reconciled('addition');
  }
  return result?.value;
}

export interface Point {
  readonly time: number;
  readonly value: NativeHistogram;
}

/**
 * Applies the float variant of the function to histograms, using samples before the range and
 * possibly after it.
 */
export function withNativeEdges(
  name: string,
  edges: Edges,
  range: MixedRange,
): number | NativeHistogram | undefined {
  if (name === 'resets' || name === 'changes') {
    return anchoredCount(name, range);
  }
  const histograms = histogramsOf(range);
  if (histograms === undefined) {
    return undefined;
  }
  const points = histograms.map((value, index) => ({ time: range.samples[index]!.time, value }));
  const change = changeOf(points, range, edges === 'smoothed', name !== 'delta');
  return change && name === 'rate' ? over(change, (range.end - range.start) / 1_000) : change;
}

/** Counts from the last sample at or before the start of the range on. */
function anchoredCount(name: string, range: MixedRange): number | NativeHistogram | undefined {
  const inside = range.samples.findIndex(({ time }) => time > range.start);
  const samples = range.samples.slice(Math.max(0, inside - 1));
  return inside === -1 ? undefined : nativeFunctions[name]!({ ...range, samples });
}

function changeOf(
  points: readonly Point[],
  { start, end, name, notes }: MixedRange,
  smoothed: boolean,
  counter: boolean,
): NativeHistogram | undefined {
  const firstAbove = points.slice(0, -1).findIndex(({ time }) => time > start);
  const first = Math.max(0, (firstAbove === -1 ? points.length - 1 : firstAbove) - 1);
  const reached = smoothed ? points.slice(0, -1).findIndex(({ time }) => time >= end) : -1;
  const last = reached === -1 ? points.length - 1 : reached;
  if (points[last]!.time <= start || (smoothed && points[first]!.time > end)) {
    return undefined;
  }
  const looked = points.slice(first, last + 1);
  if (looked.some(({ value }) => isCustom(value) !== isCustom(looked[0]!.value))) {
    notes.mixedSchemas(name);
    return undefined;
  }
  const atStart = smoothed && points[first]!.time < start;
  const atEnd = smoothed && last > 0 && points[last]!.time > end;
  const left = atStart
    ? betweenHistograms(points[first]!, points[first + 1]!, start, counter, notes)
    : points[first]!.value;
  const right = atEnd
    ? betweenHistograms(points[last - 1]!, points[last]!, end, counter, notes)
    : points[last]!.value;
  if (left === undefined || right === undefined) {
    notes.mixedSchemas(name);
    return undefined;
  }
  if (
    counter
      ? looked.some(({ value }) => value.hint === 'gauge')
      : left.hint !== 'gauge' || right.hint !== 'gauge'
  ) {
    notes[counter ? 'noCounter' : 'noGauge'](name);
  }
  const lost = counter ? lostBetween(looked, left, right, atStart) : [];
  return summedUp(right, left, lost, notes);
}

/** Returns what counters held before each reset. */
function lostBetween(
  looked: readonly Point[],
  left: NativeHistogram,
  right: NativeHistogram,
  atStart: boolean,
): readonly NativeHistogram[] {
  const passed = atStart && isReset(looked[0]!.value, looked[1]!.value);
  const inner = looked.slice(passed ? 2 : 1, -1).map(({ value }) => value);
  // Both ends are in the one stretch in which it was reset.
  if (looked.length === 1 || (passed && looked.length === 2)) {
    return [];
  }
  const course = [passed ? looked[1]!.value : left, ...inner, right];
  return course.slice(0, -1).filter((value, index) => isReset(value, course[index + 1]!));
}

function summedUp(
  right: NativeHistogram,
  left: NativeHistogram,
  lost: readonly NativeHistogram[],
  notes: NativeNotes,
): NativeHistogram {
  const sum = new HistogramSum(right);
  sum.add(left, -1);
  if (sum.reconciled) {
    notes.reconciled('subtraction');
  }
  sum.reconciled = false;
  lost.forEach((one) => sum.add(one));
  if (sum.reconciled) {
    notes.reconciled('addition');
  }
  return { ...sum.value(), hint: 'gauge' };
}

/** A sample at a moment: the one there, on the line between those around it, or the last one before. */
export function smoothedSample(
  samples: readonly Sample[],
  time: number,
  name: string,
  notes: NativeNotes,
): NativeHistogram | undefined {
  const histograms = histogramsOf({ samples, name, notes });
  const next = samples.findIndex((sample) => sample.time >= time);
  if (histograms === undefined || next === 0) {
    return next === 0 && samples[0]!.time === time ? histograms?.[0] : undefined;
  }
  if (next === -1) {
    return { ...histograms.at(-1)!, hint: 'unknown' };
  }
  const [a, b] = [next - 1, next].map((index) => ({
    time: samples[index]!.time,
    value: histograms[index]!,
  })) as [Point, Point];
  const between = betweenHistograms(
    a,
    b,
    time,
    a.value.hint !== 'gauge' || b.value.hint !== 'gauge',
    notes,
  );
  if (between === undefined || isCustom(a.value) !== isCustom(b.value)) {
    notes.mixedSchemas(name);
    return undefined;
  }
  return between;
}
