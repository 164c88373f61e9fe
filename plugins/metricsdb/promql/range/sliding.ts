import type { Course } from './window.ts';

/** Positions of samples on their way through a window, each used again for the next series. */
let waiting = new Int32Array(1_024);
let inOrder = new Float64Array(1_024);

/**
 * Computes the extreme of each window while it moves: a sample that a later one beats can never be it again. Among equal ones the
 * earliest counts; NaN counts only where there is nothing else.
 */
export function sweepExtreme(
  { times, values, length, range, end: first, advance, steps }: Course,
  into: Float64Array,
  present: Uint8Array,
  sign: 1 | -1,
): void {
  if (waiting.length < length) {
    waiting = new Int32Array(length * 2);
  }
  let from = 0;
  let to = 0;
  let head = 0;
  let tail = 0;
  for (let step = 0; step < steps; step++) {
    const end = first + step * advance;
    for (; to < length && times[to]! <= end; to++) {
      const value = values[to]!;
      if (!Number.isNaN(value)) {
        while (tail > head && value * sign > values[waiting[tail - 1]!]! * sign) {
          tail--;
        }
        waiting[tail++] = to;
      }
    }
    while (from < to && times[from]! <= end - range) {
      from++;
    }
    while (head < tail && waiting[head]! < from) {
      head++;
    }
    if (to > from) {
      into[step] = head < tail ? values[waiting[head]!]! : NaN;
      present[step] = 1;
    }
  }
}

/** Max samples of a series whose windows are kept in order while they move: each of them makes room for one. */
export const mostInOrder = 4_096;

/** Computes the quantile of each window, whose values stay in order while it moves; `q` is between 0 and 1 everywhere. */
export function sweepQuantile(
  { times, values, length, range, end: first, advance, steps }: Course,
  into: Float64Array,
  present: Uint8Array,
  q: Float64Array,
): void {
  if (inOrder.length < length) {
    inOrder = new Float64Array(length * 2);
  }
  const sorted = inOrder;
  let from = 0;
  let to = 0;
  /** Numbers in the window; the rest of it is NaN, which comes before all of them. */
  let numbers = 0;
  for (let step = 0; step < steps; step++) {
    const end = first + step * advance;
    for (; from < to && times[from]! <= end - range; from++) {
      const value = values[from]!;
      if (!Number.isNaN(value)) {
        numbers--;
        // Of equal ones the first: that came first.
        for (let i = firstAtLeast(sorted, numbers + 1, value); i < numbers; i++) {
          sorted[i] = sorted[i + 1]!;
        }
      }
    }
    for (; to < length && times[to]! <= end; to++) {
      const value = values[to]!;
      if (times[to]! <= end - range) {
        from = to + 1;
      } else if (!Number.isNaN(value)) {
        let place = numbers++;
        for (; place > 0 && sorted[place - 1]! > value; place--) {
          sorted[place] = sorted[place - 1]!;
        }
        sorted[place] = value;
      }
    }
    if (to > from) {
      into[step] = ranked(q[step]!, sorted, numbers, to - from);
      present[step] = 1;
    }
  }
}

/** Returns the quantile of `count` values: NaN, and behind it so many sorted numbers. */
function ranked(q: number, sorted: Float64Array, numbers: number, count: number): number {
  const unknown = count - numbers;
  const rank = q * (count - 1);
  const lower = Math.floor(rank);
  const upper = Math.min(count - 1, lower + 1);
  const weight = rank - lower;
  const low = lower < unknown ? NaN : sorted[lower - unknown]!;
  const high = upper < unknown ? NaN : sorted[upper - unknown]!;
  return low * (1 - weight) + high * weight;
}

function firstAtLeast(sorted: Float64Array, count: number, value: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
