import type { Budget } from 'svc/query';

/** The samples that one result of a range function is computed from: `from` up to, not including, `to`. */
export class Window {
  times: Float64Array;
  values: Float64Array;
  /**
   * Ascending positions of values that break with their predecessor, if the function asks for them.
   */
  marks: Int32Array;
  /** Which of all samples each of these is, where some are left out. */
  ordinals: Float64Array | undefined;
  /** The first mark behind `from`; windows move forward only. */
  mark = 0;
  from = 0;
  to = 0;
  /** The range is (start, end], in milliseconds. */
  start = 0;
  end = 0;
  /** Time of evaluation. */
  time = 0;
  range = 0;
  /** Scalar arguments at this step. */
  a = 0;
  b = 0;

  constructor(
    times: Float64Array,
    values: Float64Array,
    marks: Int32Array,
    ordinals?: Float64Array,
  ) {
    this.times = times;
    this.values = values;
    this.marks = marks;
    this.ordinals = ordinals;
  }

  get count(): number {
    const { ordinals, from, to } = this;
    return ordinals === undefined ? to - from : ordinals[to - 1]! - ordinals[from]! + 1;
  }
}

/** Function that turns the samples of a range into a value. */
export interface RangeFunction {
  /** Min samples for a result. */
  readonly least: number;
  readonly keepsName?: boolean;
  /** Looks at nothing but the first and last sample, the least and greatest value and the number of samples, and perhaps at where values fell. */
  readonly thinned?: 'plain' | 'with falls';
  /** Which values break with the one before; `compute` finds them as marks. */
  breaks?(before: number, value: number): boolean;
  /** Computes the value, which may be NaN; `undefined` means no result. */
  compute(window: Window): number | undefined;
  /** Computes the same for a window of so many samples that doing it at once would block others. */
  computeMany?(window: Window, budget: Budget): Promise<number | undefined>;
  /**
   * Computes all steps of one series at once, where that is faster: for the most common functions.
   */
  sweep?(
    course: Course,
    values: Float64Array,
    present: Uint8Array,
    scalars: readonly Float64Array[],
  ): void;
  /** Returns whether `sweep` knows these scalar arguments; absent where it knows all. */
  sweepsWith?(scalars: readonly Float64Array[]): boolean;
  /** Max samples of a series for `sweep`, if the work of a step grows with them. */
  readonly mostSwept?: number;
}

/** Samples of one series and the ranges that move over them: step `i` ends at `end + i * advance`. */
export interface Course {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly length: number;
  readonly ordinals?: Float64Array | undefined;
  readonly range: number;
  readonly end: number;
  readonly advance: number;
  readonly steps: number;
}

const noMarks = new Int32Array();

export function marksOf(
  values: Float64Array,
  length: number,
  breaks: RangeFunction['breaks'],
): Int32Array {
  if (breaks === undefined) {
    return noMarks;
  }
  const found: number[] = [];
  for (let i = 1; i < length; i++) {
    if (breaks(values[i - 1]!, values[i]!)) {
      found.push(i);
    }
  }
  return found.length === 0 ? noMarks : Int32Array.from(found);
}

/** Moves to the first mark behind the first sample of the window. */
export function seekMark(window: Window): number {
  const { marks, from } = window;
  while (window.mark < marks.length && marks[window.mark]! <= from) {
    window.mark++;
  }
  return window.mark;
}

export function countMarks(window: Window): number {
  const { marks, to } = window;
  let end = seekMark(window);
  const first = end;
  while (end < marks.length && marks[end]! < to) {
    end++;
  }
  return end - first;
}
