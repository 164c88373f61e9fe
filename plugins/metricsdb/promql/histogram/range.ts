/** Functions over ranges that hold native histograms, perhaps among numbers. */
import {
  combined,
  emptyLike,
  HistogramSum,
  isCustom,
  isReset,
  type NativeHistogram,
  over,
  reduced,
  sameHistogram,
  times,
} from 'svc/native-histogram';

import type { Samples } from '../range/range-vector.ts';
import { stretched } from '../range/rate.ts';
import { foldHistograms } from './fold.ts';
import type { NativeNotes } from './notes.ts';

export interface Sample {
  readonly time: number;
  readonly value: number | NativeHistogram;
}

export const samplesIn = (
  { times, values, histograms }: Pick<Samples, 'times' | 'values' | 'histograms'>,
  from: number,
  to: number,
): readonly Sample[] =>
  Array.from({ length: to - from }, (_, i) => ({
    time: times[from + i]!,
    value: histograms?.[from + i] ?? values[from + i]!,
  }));

/** Input of one result, in order of time; at least one sample is a histogram. */
export interface MixedRange {
  readonly samples: readonly Sample[];
  readonly start: number;
  readonly end: number;
  /** Name of the metric. */
  readonly name: string;
  readonly notes: NativeNotes;
}

type NativeFunction = (range: MixedRange) => number | NativeHistogram | undefined;

/** Returns the histograms, or undefined with a warning if there are numbers among them. */
export function histogramsOf({
  samples,
  name,
  notes,
}: Pick<MixedRange, 'samples' | 'name' | 'notes'>): readonly NativeHistogram[] | undefined {
  const histograms = samples.flatMap(({ value }) => (typeof value === 'number' ? [] : [value]));
  if (histograms.length < samples.length) {
    notes.mixed(name);
    return undefined;
  }
  return histograms;
}

function extrapolated(
  range: MixedRange,
  counter: boolean,
  perSecond: boolean,
): NativeHistogram | undefined {
  const histograms = histogramsOf(range);
  if (histograms === undefined || histograms.length < 2) {
    return undefined;
  }
  const change = changeOf(histograms, counter, range);
  if (change === undefined) {
    return undefined;
  }
  const { samples, start, end } = range;
  const [oldest, newest] = [samples[0]!.time, samples.at(-1)!.time];
  const factor = stretched(
    change.count,
    histograms[0]!.count,
    newest - oldest,
    samples.length - 1,
    oldest - start,
    end - newest,
    counter,
  );
  return times(change, perSecond ? factor / ((end - start) / 1_000) : factor);
}

/** Returns the change from the first to the last; for counters, across resets. */
function changeOf(
  histograms: readonly NativeHistogram[],
  counter: boolean,
  { name, notes }: MixedRange,
): NativeHistogram | undefined {
  const [first, second] = histograms as [NativeHistogram, NativeHistogram];
  const last = histograms.at(-1)!;
  if (
    counter
      ? histograms.some(({ hint }) => hint === 'gauge')
      : first.hint !== 'gauge' || last.hint !== 'gauge'
  ) {
    notes[counter ? 'noCounter' : 'noGauge'](name);
  }
  // The content of a first sample that was lost directly after it does not matter.
  const before = counter && isReset(first, second) ? emptyLike(second) : first;
  const looked = counter ? [before, ...histograms.slice(1)] : [before, last];
  if (looked.some((one) => isCustom(one) !== isCustom(before))) {
    notes.mixedSchemas(name);
    return undefined;
  }
  const sum = new HistogramSum(reduced(last, Math.min(...looked.map(({ schema }) => schema))));
  sum.add(before, -1);
  if (sum.reconciled) {
    notes.reconciled('subtraction');
  }
  sum.reconciled = false;
  for (let i = 1; counter && i < histograms.length; i++) {
    const earlier = i === 1 ? before : histograms[i - 1]!;
    if (isReset(earlier, histograms[i]!)) {
      sum.add(earlier);
    }
  }
  if (sum.reconciled) {
    notes.reconciled('addition');
  }
  return { ...sum.value(), hint: 'gauge' };
}

/** Returns the change between the last two samples. */
function lastChange(
  { samples, name, notes }: MixedRange,
  counter: boolean,
): number | NativeHistogram | undefined {
  const [before, last] = samples.slice(-2) as [Sample, Sample | undefined];
  if (last === undefined) {
    return undefined;
  }
  const [a, b] = [before.value, last.value];
  const seconds = (last.time - before.time) / 1_000;
  if (typeof a === 'number' && typeof b === 'number') {
    return counter ? (b < a ? b : b - a) / seconds : b - a;
  }
  if (typeof a === 'number' || typeof b === 'number') {
    notes.mixed(name);
    return undefined;
  }
  if (
    counter ? a.hint === 'gauge' || b.hint === 'gauge' : a.hint !== 'gauge' || b.hint !== 'gauge'
  ) {
    notes[counter ? 'noCounter' : 'noGauge'](name);
  }
  const found = counter && isReset(a, b) ? { value: b, reconciled: false } : combined(b, a, -1);
  if (found === undefined) {
    notes.mixedSchemas(name);
    return undefined;
  }
  if (found.reconciled) {
    notes.reconciled('subtraction');
  }
  const change: NativeHistogram = { ...found.value, hint: 'gauge' };
  return counter ? over(change, seconds) : change;
}

function folded(range: MixedRange, mean: boolean): NativeHistogram | undefined {
  const histograms = histogramsOf(range);
  return histograms && foldHistograms(histograms, mean, range.name, range.notes);
}

/**
 * Counts how often a sample differs from its predecessor; a histogram and a number always differ.
 */
function countPairs(
  { samples }: MixedRange,
  numbers: (a: number, b: number) => boolean,
  histograms: (a: NativeHistogram, b: NativeHistogram) => boolean,
): number {
  return samples.slice(1).filter(({ value: b }, index) => {
    const a = samples[index]!.value;
    if (typeof a === 'number' || typeof b === 'number') {
      return typeof a !== 'number' || typeof b !== 'number' || numbers(a, b);
    }
    return histograms(a, b);
  }).length;
}

export const nativeFunctions: Readonly<Record<string, NativeFunction>> = {
  rate: (range) => extrapolated(range, true, true),
  increase: (range) => extrapolated(range, true, false),
  delta: (range) => extrapolated(range, false, false),
  irate: (range) => lastChange(range, true),
  idelta: (range) => lastChange(range, false),
  resets: (range) => countPairs(range, (a, b) => b < a, isReset),
  changes: (range) =>
    countPairs(
      range,
      (a, b) => a !== b && !(Number.isNaN(a) && Number.isNaN(b)),
      (a, b) => !sameHistogram(a, b),
    ),
  sum_over_time: (range) => folded(range, false),
  avg_over_time: (range) => folded(range, true),
  count_over_time: ({ samples }) => samples.length,
  present_over_time: () => 1,
  absent_over_time: () => 1,
  last_over_time: ({ samples }) => samples.at(-1)!.value,
  first_over_time: ({ samples }) => samples[0]!.value,
  ts_of_first_over_time: ({ samples }) => samples[0]!.time / 1_000,
  ts_of_last_over_time: ({ samples }) => samples.at(-1)!.time / 1_000,
};
