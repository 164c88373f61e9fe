import { countMarks, type Course, type RangeFunction, seekMark, type Window } from './window.ts';

export const isReset = (before: number, value: number): boolean => value < before;
const isChange = (before: number, value: number): boolean =>
  value !== before && !(Number.isNaN(value) && Number.isNaN(before));

/** A series that begins or ends further from the edge than this many of its intervals is taken to begin or end within the range. */
const farFromEdge = 1.1;
/** Intervals from the edge that are less than that, however figures are rounded. */
const nearEdge = 1.05;

function increaseWithResets(window: Window): number {
  const { values, marks, from, to } = window;
  let increase = values[to - 1]! - values[from]!;
  for (let mark = seekMark(window); mark < marks.length && marks[mark]! < to; mark++) {
    increase += values[marks[mark]! - 1]!;
  }
  return increase;
}

/** The increase that the samples show, stretched to the whole range. */
export function stretched(
  change: number,
  first: number,
  spanMs: number,
  gaps: number,
  beforeMs: number,
  afterMs: number,
  counter: boolean,
): number {
  const sampled = spanMs / 1000;
  let before = beforeMs / 1000;
  let after = afterMs / 1000;
  const near = spanMs * nearEdge;
  if (
    spanMs > 0 &&
    beforeMs <= spanMs &&
    beforeMs * gaps < near &&
    afterMs * gaps < near &&
    (!counter || first >= change)
  ) {
    // The usual case, without divisions that leave both ends as they are.
    return (sampled + before + after) / sampled;
  }
  const average = sampled / gaps;
  if (before >= average * farFromEdge) {
    before = average / 2;
  }
  // A counter was never below zero, so it began at the earliest where the line through it meets zero.
  if (counter && change > 0 && first >= 0) {
    before = Math.min(before, sampled * (first / change));
  }
  if (after >= average * farFromEdge) {
    after = average / 2;
  }
  return sampled === 0 ? 1 : (sampled + before + after) / sampled;
}

function extrapolated(window: Window, counter: boolean, perSecond: boolean): number {
  const { times, values, from, to, start, end, range } = window;
  const change = counter ? increaseWithResets(window) : values[to - 1]! - values[from]!;
  const oldest = times[from]!;
  const newest = times[to - 1]!;
  const factor = stretched(
    change,
    values[from]!,
    newest - oldest,
    to - from - 1,
    oldest - start,
    end - newest,
    counter,
  );
  return change * (perSecond ? factor / (range / 1000) : factor);
}

/** Computes `extrapolated` at every step. */
function sweepExtrapolated(
  course: Course,
  values: Float64Array,
  present: Uint8Array,
  counter: boolean,
  perSecond: boolean,
): void {
  const { times, values: samples, length, ordinals, range, end: first, advance, steps } = course;
  const marks = counter ? resetsIn(samples, length) : none;
  const seconds = range / 1000;
  let from = 0;
  let to = 0;
  let mark = 0;
  for (let step = 0; step < steps; step++) {
    const end = first + step * advance;
    const start = end - range;
    while (to < length && times[to]! <= end) {
      to++;
    }
    while (from < to && times[from]! <= start) {
      from++;
    }
    const gaps =
      ordinals === undefined || to <= from ? to - from - 1 : ordinals[to - 1]! - ordinals[from]!;
    if (gaps < 1) {
      continue;
    }
    const oldest = times[from]!;
    const newest = times[to - 1]!;
    const value = samples[from]!;
    let change = samples[to - 1]! - value;
    while (mark < marks.length && marks[mark]! <= from) {
      mark++;
    }
    for (let next = mark; next < marks.length && marks[next]! < to; next++) {
      change += samples[marks[next]! - 1]!;
    }
    const factor = stretched(
      change,
      value,
      newest - oldest,
      gaps,
      oldest - start,
      end - newest,
      counter,
    );
    values[step] = change * (perSecond ? factor / seconds : factor);
    present[step] = 1;
  }
}

const none: readonly number[] = [];

function resetsIn(values: Float64Array, length: number): readonly number[] {
  let found: number[] | undefined;
  for (let i = 1; i < length; i++) {
    if (values[i]! < values[i - 1]!) {
      (found ??= []).push(i);
    }
  }
  return found ?? none;
}

function stretching(counter: boolean, perSecond: boolean): RangeFunction {
  return {
    least: 2,
    thinned: counter ? 'with falls' : 'plain',
    ...(counter && { breaks: isReset }),
    compute: (window) => extrapolated(window, counter, perSecond),
    sweep: (course, values, present) =>
      sweepExtrapolated(course, values, present, counter, perSecond),
  };
}

/** Returns the change between the last two samples. */
function lastChange({ times, values, to }: Window, counter: boolean): number | undefined {
  const elapsed = times[to - 1]! - times[to - 2]!;
  if (elapsed === 0) {
    return undefined;
  }
  const value = values[to - 1]!;
  const before = values[to - 2]!;
  if (!counter) {
    return value - before;
  }
  return (value < before ? value : value - before) / (elapsed / 1000);
}

export const rateFunctions: Readonly<Record<string, RangeFunction>> = {
  rate: stretching(true, true),
  increase: stretching(true, false),
  delta: stretching(false, false),
  irate: { least: 2, compute: (window) => lastChange(window, true) },
  idelta: { least: 2, compute: (window) => lastChange(window, false) },
  resets: { least: 1, breaks: isReset, compute: countMarks },
  changes: { least: 1, breaks: isChange, compute: countMarks },
};
