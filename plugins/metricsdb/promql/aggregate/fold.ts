import type { Row } from '../vector/run.ts';

type Numbers = Pick<Row, 'from' | 'values' | 'present'>;

/** Aggregations that take one value after the other, for all steps at once. */
export interface Fold {
  /** Values seen at each step. */
  readonly count: Float64Array;
  clear(): void;
  add(step: number, value: number): void;
  /** Adds all values of a row. */
  addRow(row: Numbers): void;
  result(step: number): number;
}

type MakeFold = (steps: number) => Fold;

/** Returns a function that adds a row value by value. */
const byValue =
  (add: Fold['add']) =>
  ({ from, values, present }: Numbers): void => {
    for (let i = 0; i < values.length; i++) {
      if (present === undefined || present[i] === 1) {
        add(from + i, values[i]!);
      }
    }
  };

/** Keeps one number a step. */
function simple(
  first: (value: number) => number,
  next: (kept: number, value: number) => number,
): MakeFold {
  return (steps) => {
    const count = new Float64Array(steps);
    const kept = new Float64Array(steps);
    const add = (step: number, value: number): void => {
      kept[step] = count[step]!++ === 0 ? first(value) : next(kept[step]!, value);
    };
    return {
      count,
      clear: () => count.fill(0),
      add,
      addRow: byValue(add),
      result: (step) => kept[step]!,
    };
  };
}

const itself = (value: number): number => value;
const one = (): number => 1;

/** Compensated sums: the rounding error of each is carried along. */
class Sums {
  readonly total: Float64Array;
  readonly lost: Float64Array;

  constructor(steps: number) {
    this.total = new Float64Array(steps);
    this.lost = new Float64Array(steps);
  }

  start(step: number, value: number): void {
    this.total[step] = value;
    this.lost[step] = 0;
  }

  add(step: number, value: number): void {
    const before = this.total[step]!;
    const total = before + value;
    if (total === Infinity || total === -Infinity) {
      this.lost[step] = 0;
    } else {
      this.lost[step]! +=
        Math.abs(before) >= Math.abs(value) ? before - total + value : value - total + before;
    }
    this.total[step] = total;
  }

  /** Starts or adds at each step of a row, in one loop: most of what is aggregated goes through here. */
  addRow({ from, values, present }: Numbers, count: Float64Array): void {
    const { total, lost } = this;
    for (let i = 0, step = from; i < values.length; i++, step++) {
      if (present !== undefined && present[i] !== 1) {
        continue;
      }
      const value = values[i]!;
      if (count[step]!++ === 0) {
        total[step] = value;
        lost[step] = 0;
        continue;
      }
      const before = total[step]!;
      const sum = before + value;
      if (sum === Infinity || sum === -Infinity) {
        lost[step] = 0;
      } else {
        lost[step]! +=
          Math.abs(before) >= Math.abs(value) ? before - sum + value : value - sum + before;
      }
      total[step] = sum;
    }
  }
}

const sum: MakeFold = (steps) => {
  const count = new Float64Array(steps);
  const sums = new Sums(steps);
  return {
    count,
    clear: () => count.fill(0),
    add(step, value) {
      if (count[step]!++ === 0) {
        sums.start(step, value);
      } else {
        sums.add(step, value);
      }
    },
    addRow(row) {
      sums.addRow(row, count);
    },
    result: (step) => sums.total[step]! + sums.lost[step]!,
  };
};

/** Divides the sum by the count; where the sum would leave what a number can hold, the mean is carried on from there. */
const avg: MakeFold = (steps) => {
  const count = new Float64Array(steps);
  const carried = new Uint8Array(steps);
  const sums = new Sums(steps);
  function add(step: number, value: number): void {
    const seen = ++count[step]!;
    if (seen === 1) {
      carried[step] = 0;
      sums.start(step, value);
      return;
    }
    if (carried[step] === 0) {
      const total = sums.total[step]!;
      const lost = sums.lost[step]!;
      sums.add(step, value);
      if (Math.abs(sums.total[step]!) !== Infinity) {
        return;
      }
      carried[step] = 1;
      sums.total[step] = total / (seen - 1);
      sums.lost[step] = lost / (seen - 1);
    }
    const share = (seen - 1) / seen;
    sums.total[step]! *= share;
    sums.lost[step]! *= share;
    sums.add(step, value / seen);
  }
  return {
    count,
    clear: () => count.fill(0),
    add,
    addRow({ from, values, present }) {
      for (let i = 0; i < values.length; i++) {
        if (present === undefined || present[i] === 1) {
          add(from + i, values[i]!);
        }
      }
    },
    result: (step) =>
      carried[step] === 1
        ? sums.total[step]! + sums.lost[step]!
        : sums.total[step]! / count[step]! + sums.lost[step]! / count[step]!,
  };
};

/** Squared distances from the running mean. */
function variance(finish: (value: number) => number): MakeFold {
  return (steps) => {
    const count = new Float64Array(steps);
    const mean = new Float64Array(steps);
    const squares = new Float64Array(steps);
    const add = (step: number, value: number): void => {
      const seen = ++count[step]!;
      if (seen === 1) {
        mean[step] = value;
        squares[step] = Number.isFinite(value) ? 0 : NaN;
        return;
      }
      const delta = value - mean[step]!;
      mean[step]! += delta / seen;
      squares[step]! += delta * (value - mean[step]!);
    };
    return {
      count,
      clear: () => count.fill(0),
      add,
      addRow: byValue(add),
      result: (step) => finish(squares[step]! / count[step]!),
    };
  };
}

const counting: MakeFold = (steps) => {
  const count = new Float64Array(steps);
  return {
    count,
    clear: () => count.fill(0),
    add(step) {
      count[step]!++;
    },
    addRow({ from, values: { length }, present }) {
      for (let i = 0; i < length; i++) {
        count[from + i]! += present === undefined ? 1 : present[i]!;
      }
    },
    result: (step) => count[step]!,
  };
};

export const folds: Readonly<Record<string, MakeFold>> = {
  sum,
  avg,
  count: counting,
  group: simple(one, one),
  min: simple(itself, (kept, value) => (kept > value || Number.isNaN(kept) ? value : kept)),
  max: simple(itself, (kept, value) => (kept < value || Number.isNaN(kept) ? value : kept)),
  stdvar: variance(itself),
  stddev: variance(Math.sqrt),
};
