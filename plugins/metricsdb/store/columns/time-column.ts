import { Cursor, type Scratch } from './scratch.ts';
import { readWholeNumbers, weightOf, writeWholeNumbers } from './whole-numbers.ts';

/**
 * Deviation of times: from an even grid (a ticker that jitters), or each from its predecessor (a
 * sleeper that drifts, gaps).
 */
const grid = 0;
const chain = 1;

/** Ascending whole milliseconds in few bytes: an even interval, and what deviates from it. Owns scratch space; not re-entrant. */
export class TimeColumn {
  #deviations = new Float64Array(512);
  #others = new Float64Array(512);

  /** Writes `times[from, to)`, at least one, all relative to `origin`. */
  write(
    out: Scratch,
    times: Float64Array | Int32Array,
    from: number,
    to: number,
    origin: number,
  ): void {
    const count = to - from;
    const first = times[from]!;
    out.uvarint(count);
    out.svarint(first - origin);
    if (count === 1) {
      return;
    }
    if (this.#deviations.length < count) {
      this.#deviations = new Float64Array(count * 2);
      this.#others = new Float64Array(count * 2);
    }
    const deviations = this.#deviations;
    const others = this.#others;
    const interval = usualInterval(times, from, to);
    let gridWeight = 0;
    let chainWeight = 0;
    for (let i = 1; i < count; i++) {
      const time = times[from + i]!;
      const offGrid = time - first - i * interval;
      const offChain = time - times[from + i - 1]! - interval;
      deviations[i] = offGrid;
      others[i] = offChain;
      gridWeight += weightOf(offGrid);
      chainWeight += weightOf(offChain);
    }
    out.u8(gridWeight < chainWeight ? grid : chain);
    out.uvarint(interval);
    writeWholeNumbers(out, gridWeight < chainWeight ? deviations : others, 1, count);
  }

  /** Returns the number of times at `cursor`, which does not move. */
  count(bytes: Uint8Array, begin: number, end: number): number {
    return new Cursor(bytes, begin, end).uvarint();
  }

  /**
   * Reads into `times` from `into` on and returns the end of the column; `times` must have capacity
   * for `count` of them.
   */
  read(
    bytes: Uint8Array,
    begin: number,
    end: number,
    origin: number,
    times: Float64Array,
    into: number,
  ): number {
    const cursor = new Cursor(bytes, begin, end);
    const count = cursor.uvarint();
    const first = cursor.svarint() + origin;
    times[into] = first;
    if (count === 1) {
      return cursor.at;
    }
    const kind = cursor.u8();
    const interval = cursor.uvarint();
    const until = into + count;
    const stopped = readWholeNumbers(bytes, cursor.at, end, times, into + 1, until);
    if (kind === grid) {
      for (let i = into + 1, due = first + interval; i < until; i++, due += interval) {
        times[i]! += due;
      }
    } else {
      let time = first;
      for (let i = into + 1; i < until; i++) {
        times[i] = time += interval + times[i]!;
      }
    }
    return stopped;
  }
}

/** The middle one of some intervals, so that neither a gap nor jitter moves it far. */
function usualInterval(times: Float64Array | Int32Array, from: number, to: number): number {
  const intervals = to - from - 1;
  const apart = (i: number): number => times[from + i + 1]! - times[from + i]!;
  const a = apart(0);
  const b = apart(intervals >> 1);
  const c = apart(intervals - 1);
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
