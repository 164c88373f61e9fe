import { type Labels, queryError } from 'svc/query';

import {
  type Edges,
  type Expr,
  type MatrixSelector,
  type Subquery,
  withoutParens,
} from '../parse/ast.ts';
import { executionError } from '../parse/position.ts';
import { dataTime, milliseconds, type Placed, place } from '../vector/placement.ts';
import { type Grid, type Row, rowsOf, type Run, timeAt } from '../vector/run.ts';
import { eachSelected, withoutStale } from '../vector/selection.ts';
import type { Histograms, Series } from '../vector/source.ts';
import type { RangeFunction } from './window.ts';

/** The samples of one series that the ranges at all steps lie in. */
export interface Samples {
  readonly labels: Labels;
  readonly dropName: boolean;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly length: number;
  /** Which of all samples each of these is, where some are left out. */
  readonly ordinals?: Float64Array;
  readonly histograms?: Histograms;
}

/** Max steps of one subquery: loops over all of them block other work. */
const maxSteps = 10_000_000;

/** Visitor, which may use the samples until it returns, or until its promise resolves. */
export type VisitSamples = (samples: Samples) => Promise<void> | void;

export interface RangeVector extends Placed {
  readonly range: number;
  readonly edges?: Edges;
  /** Position in the text of the query. */
  readonly position: number;
  /** All samples that ranges behind each step of the grid can hold, one series after the other. */
  each(visit: VisitSamples): Promise<void>;
}

/** Use of the ranges: the function by name, and what it does not need. */
export interface Purpose {
  readonly func: string;
  readonly thinned: RangeFunction['thinned'];
}

export async function rangeVector(
  run: Run,
  expr: Expr,
  grid: Grid,
  purpose?: Purpose,
): Promise<RangeVector> {
  const inner = withoutParens(expr);
  if (inner.node === 'matrix') {
    return selectedRange(run, inner, grid, purpose);
  }
  if (inner.node === 'subquery') {
    return subqueryRange(run, inner, grid);
  }
  throw new TypeError(`expected a range vector, got ${inner.node}`);
}

function selectedRange(
  run: Run,
  expr: MatrixSelector,
  grid: Grid,
  purpose: Purpose | undefined,
): RangeVector {
  const { edges } = expr.selector;
  const placed = place(run, expr.selector);
  const range = milliseconds(run, expr.range, false);
  const before = edges === undefined ? 0 : run.lookbackMs;
  const after = edges === 'smoothed' ? run.lookbackMs : 0;
  const mint = dataTime(placed, grid, 0) - range - before;
  const maxt = dataTime(placed, grid, grid.count - 1) + after;
  const windows = {
    end: dataTime(placed, grid, 0),
    advance: placed.at === undefined ? grid.step : 0,
    width: range,
    falls: purpose?.thinned === 'with falls',
  };
  const hints = {
    step: grid.step,
    range: range + before + after,
    ...(purpose !== undefined && { func: purpose.func }),
    ...(purpose?.thinned !== undefined && edges === undefined && { windows }),
  };
  return {
    ...placed,
    range,
    position: expr.start,
    each: (visit) =>
      eachSelected(run, expr.selector, mint, maxt, hints, (series) =>
        visit(rawSamples(withoutStale(series))),
      ),
    ...(edges !== undefined && { edges }),
  };
}

const rawSamples = ({ labels, times, values, length, counts, histograms }: Series): Samples => ({
  labels,
  dropName: false,
  times,
  values,
  length,
  ...(counts && { ordinals: ordinalsOf(counts, length) }),
  ...(histograms && { histograms }),
});

function ordinalsOf(counts: Float64Array, length: number): Float64Array {
  const ordinals = new Float64Array(length);
  let ordinal = 0;
  for (let i = 0; i < length; i++) {
    ordinals[i] = ordinal += counts[i]!;
  }
  return ordinals;
}

async function subqueryRange(run: Run, expr: Subquery, grid: Grid): Promise<RangeVector> {
  const placed = place(run, expr);
  const range = milliseconds(run, expr.range, false);
  const inner = subqueryGrid(
    run,
    expr,
    range,
    dataTime(placed, grid, 0),
    dataTime(placed, grid, grid.count - 1),
  );
  const rows = inner === undefined ? [] : await rowsOf(run, expr.expr, inner);
  return {
    ...placed,
    range,
    position: expr.start,
    async each(visit) {
      for (const row of rows) {
        await visit(samplesOf(row, inner!));
        await run.budget.breathe();
      }
    },
  };
}

/** Steps are multiples of the step since 1970, so that moving the window does not move them. */
function subqueryGrid(
  run: Run,
  { step }: Subquery,
  range: number,
  first: number,
  last: number,
): Grid | undefined {
  const interval = step === undefined ? run.subqueryStepMs : milliseconds(run, step, false);
  if (interval < 1) {
    throw executionError('the step of a subquery must be at least 1ms');
  }
  const start = (Math.floor((first - range) / interval) + 1) * interval;
  const count = Math.floor((last - start) / interval) + 1;
  if (count < 1) {
    return undefined;
  }
  // Before anything of this size is made.
  run.budget.spend(count);
  if (count > maxSteps) {
    throw queryError(
      'too_large',
      `a subquery has ${count} steps, more than ${maxSteps}: ask for a longer step or a shorter range`,
    );
  }
  return { start, step: interval, count };
}

function samplesOf(row: Row, grid: Grid): Samples {
  const { labels, dropName, values, present, from } = row;
  const histograms = row.histograms && unrelated(row);
  const times = new Float64Array(values.length);
  if (present === undefined) {
    for (let i = 0; i < values.length; i++) {
      times[i] = timeAt(grid, from + i);
    }
    return {
      labels,
      dropName,
      times,
      values,
      length: values.length,
      ...(histograms && { histograms }),
    };
  }
  const kept = new Float64Array(values.length);
  let length = 0;
  for (let i = 0; i < values.length; i++) {
    if (present[i] === 1) {
      times[length] = timeAt(grid, from + i);
      kept[length++] = values[i]!;
    }
  }
  return { labels, dropName, times, values: kept, length, ...(histograms && { histograms }) };
}

/**
 * Returns the histograms that are present. Within a subquery a histogram has another predecessor
 * than in its series, so whether it was reset is unknown.
 */
function unrelated({ values, present, histograms }: Row): Histograms {
  return [...values.keys()]
    .filter((index) => present === undefined || present[index] === 1)
    .map((index) => histograms![index])
    .map((one) =>
      one?.hint === 'reset' || one?.hint === 'not_reset' ? { ...one, hint: 'unknown' } : one,
    );
}
