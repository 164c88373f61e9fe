/** Ranges that look past their edges: at a sample before the range (anchored), or between the samples around an edge (smoothed). */
import type { Edges } from '../parse/ast.ts';
import type { Samples } from './range-vector.ts';
import { isReset } from './rate.ts';
import { countMarks, type RangeFunction, type Window } from './window.ts';

interface Bounds {
  readonly first: number;
  readonly last: number;
  readonly left: number;
  readonly right: number;
}

const firstAbove = (times: Float64Array, from: number, to: number, time: number): number => {
  let index = from;
  while (index < to && times[index]! <= time) {
    index++;
  }
  return index;
};

/** The value on the line between two samples. A counter that fell in between began at zero. */
function between(
  times: Float64Array,
  values: Float64Array,
  index: number,
  time: number,
  counter: boolean,
): number {
  const after = values[index + 1]!;
  const before = counter && after < values[index]! ? 0 : values[index]!;
  return before + ((after - before) * (time - times[index]!)) / (times[index + 1]! - times[index]!);
}

/** Returns the samples that count and the values at the edges; undefined if the range is empty. */
function boundsOf(window: Window, edges: Edges, counter: boolean): Bounds | undefined {
  const { times, values, from, to, start, end } = window;
  const smoothed = edges === 'smoothed';
  const first = Math.max(from, Math.min(firstAbove(times, from, to, start), to - 1) - 1);
  let last = to - 1;
  if (smoothed) {
    last = from;
    while (last < to - 1 && times[last]! < end) {
      last++;
    }
  }
  if (times[last]! <= start || (smoothed && times[first]! > end)) {
    return undefined;
  }
  const left =
    smoothed && times[first]! < start
      ? between(times, values, first, start, counter)
      : values[first]!;
  const right =
    smoothed && last > from && times[last]! > end
      ? between(times, values, last - 1, end, counter)
      : values[last]!;
  return { first, last, left, right };
}

function change(window: Window, edges: Edges, counter: boolean): number | undefined {
  const bounds = boundsOf(window, edges, counter);
  if (bounds === undefined) {
    return undefined;
  }
  const { times, values, start, end } = window;
  const { left, right } = bounds;
  if (!counter) {
    return right - left;
  }
  const first = times[bounds.first]! <= start ? bounds.first + 1 : bounds.first;
  const last = times[bounds.last]! >= end ? bounds.last - 1 : bounds.last;
  let corrected = right - left;
  let before = left;
  for (let i = first; i <= last; i++) {
    corrected += isReset(before, values[i]!) ? before : 0;
    before = values[i]!;
  }
  return corrected + (isReset(before, right) ? before : 0);
}

/** Counts from the last sample at or before the start of the range on. */
function anchoredCount(window: Window): number | undefined {
  const inside = firstAbove(window.times, window.from, window.to, window.start);
  if (inside >= window.to) {
    return undefined;
  }
  window.from = Math.max(window.from, inside - 1);
  return countMarks(window);
}

/** Names of the functions that each modifier works with, in the order that errors list them. */
const allowed: Readonly<Record<Edges, readonly string[]>> = {
  anchored: ['changes', 'delta', 'increase', 'rate', 'resets'],
  smoothed: ['delta', 'increase', 'rate'],
};

/** The function as it works with the modifier, or what to tell the user. */
export function withEdges(
  name: string,
  plain: RangeFunction,
  edges: Edges,
): RangeFunction | string {
  if (!allowed[edges].includes(name)) {
    return `${edges} modifier can only be used with: ${allowed[edges].join(', ')} - not with ${name}`;
  }
  if (name === 'resets' || name === 'changes') {
    return { ...plain, compute: anchoredCount };
  }
  const counter = name !== 'delta';
  return {
    least: 1,
    compute(window) {
      const found = change(window, edges, counter);
      return found === undefined || name !== 'rate' ? found : found / (window.range / 1000);
    },
  };
}

/** Returns a range as it is shown itself: with a computed sample at each edge. */
export function extended(window: Window, samples: Samples, edges: Edges): Samples {
  const bounds = boundsOf(window, edges, false);
  if (bounds === undefined) {
    return { ...samples, times: new Float64Array(), values: new Float64Array(), length: 0 };
  }
  const { times, values, start, end } = window;
  const first = times[bounds.first]! <= start ? bounds.first + 1 : bounds.first;
  const last = times[bounds.last]! >= end ? bounds.last - 1 : bounds.last;
  const inner = Math.max(0, last - first + 1);
  return {
    ...samples,
    times: Float64Array.of(start, ...times.subarray(first, first + inner), end),
    values: Float64Array.of(bounds.left, ...values.subarray(first, first + inner), bounds.right),
    length: inner + 2,
  };
}

/** The value at a moment: of the sample there, between those around it, or of the last one before. */
export function smoothedAt(
  times: Float64Array,
  values: Float64Array,
  from: number,
  to: number,
  time: number,
): number | undefined {
  let next = from;
  while (next < to && times[next]! < time) {
    next++;
  }
  if (next < to && times[next] === time) {
    return values[next];
  }
  if (next === from) {
    return undefined;
  }
  return next < to ? between(times, values, next - 1, time, false) : values[next - 1];
}
