import type { RangeOp } from '../syntax/ast.ts';

/**
 * Fold of the samples of one cell into a few numbers, and of cells into windows; memory grows with
 * cells, not with lines.
 */
export interface Fold {
  /** Numbers per cell. */
  readonly width: number;
  /** Puts the first sample into the cell at `at`. */
  begin(cells: Float64Array, at: number, value: number, ms: number, ns: number): void;
  add(cells: Float64Array, at: number, value: number, ms: number, ns: number): void;
  /** Joins the cell at `from` of `other`, which comes later, into the one at `at`. */
  join(cells: Float64Array, at: number, other: Float64Array, from: number): void;
  result(cells: Float64Array, at: number, rangeSeconds: number): number;
}

const adding = (result: Fold['result']): Fold => ({
  width: 1,
  begin: (cells, at, value) => {
    cells[at] = value;
  },
  add: (cells, at, value) => {
    cells[at]! += value;
  },
  join: (cells, at, other, from) => {
    cells[at]! += other[from]!;
  },
  result,
});

const picking = (better: (value: number, than: number) => boolean): Fold => {
  const take = (cells: Float64Array, at: number, value: number): void => {
    if (better(value, cells[at]!) || Number.isNaN(cells[at])) {
      cells[at] = value;
    }
  };
  return {
    width: 1,
    begin: (cells, at, value) => {
      cells[at] = value;
    },
    add: take,
    join: (cells, at, other, from) => take(cells, at, other[from]!),
    result: (cells, at) => cells[at]!,
  };
};

/** Value, then its time; the earlier or the later one stays. */
const dated = (newest: boolean): Fold => ({
  width: 3,
  begin: (cells, at, value, ms, ns) => {
    cells[at] = value;
    cells[at + 1] = ms;
    cells[at + 2] = ns;
  },
  add: (cells, at, value, ms, ns) => {
    const order = ms - cells[at + 1]! || ns - cells[at + 2]!;
    if (newest ? order >= 0 : order < 0) {
      cells[at] = value;
      cells[at + 1] = ms;
      cells[at + 2] = ns;
    }
  },
  join: (cells, at, other, from) => {
    if (newest) {
      cells[at] = other[from]!;
      cells[at + 1] = other[from + 1]!;
      cells[at + 2] = other[from + 2]!;
    }
  },
  result: (cells, at) => cells[at]!,
});

/** Count, mean and sum of squared distances from it. */
const spread = (result: (variance: number) => number): Fold => ({
  width: 3,
  begin: (cells, at, value) => {
    cells[at] = 1;
    cells[at + 1] = value;
    cells[at + 2] = 0;
  },
  add: (cells, at, value) => {
    const count = (cells[at]! += 1);
    const away = value - cells[at + 1]!;
    cells[at + 1]! += away / count;
    cells[at + 2]! += away * (value - cells[at + 1]!);
  },
  join: (cells, at, other, from) => {
    const count = cells[at]! + other[from]!;
    const away = other[from + 1]! - cells[at + 1]!;
    cells[at + 2]! += other[from + 2]! + (away * away * cells[at]! * other[from]!) / count;
    cells[at + 1]! += (away * other[from]!) / count;
    cells[at] = count;
  },
  result: (cells, at) => result(cells[at + 2]! / cells[at]!),
});

const average: Fold = {
  width: 2,
  begin: (cells, at, value) => {
    cells[at] = value;
    cells[at + 1] = 1;
  },
  add: (cells, at, value) => {
    cells[at]! += value;
    cells[at + 1]! += 1;
  },
  join: (cells, at, other, from) => {
    cells[at]! += other[from]!;
    cells[at + 1]! += other[from + 1]!;
  },
  result: (cells, at) => cells[at]! / cells[at + 1]!,
};

const total = adding((cells, at) => cells[at]!);
const perSecond = adding((cells, at, rangeSeconds) => cells[at]! / rangeSeconds);

/** Undefined for operations that need every sample. */
export function foldOf(op: RangeOp): Fold | undefined {
  switch (op) {
    case 'count_over_time':
    case 'bytes_over_time':
    case 'sum_over_time':
    case 'absent_over_time':
      return total;
    case 'rate':
    case 'bytes_rate':
      return perSecond;
    case 'avg_over_time':
      return average;
    case 'min_over_time':
      return picking((value, than) => value < than);
    case 'max_over_time':
      return picking((value, than) => value > than);
    case 'stdvar_over_time':
      return spread((variance) => variance);
    case 'stddev_over_time':
      return spread(Math.sqrt);
    case 'first_over_time':
      return dated(false);
    case 'last_over_time':
      return dated(true);
    case 'quantile_over_time':
    case 'rate_counter':
      return undefined;
  }
}
