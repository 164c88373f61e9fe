import type { Budget, Labels, Matcher } from 'svc/query';

import type { Expr } from '../parse/ast.ts';
import type { Notes } from './notes.ts';
import type { Histograms, Series, SeriesSource } from './source.ts';

/** The times an expression is evaluated at: `start + i * step`, in milliseconds. */
export interface Grid {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** One series of an instant vector over the steps of a grid. */
export interface Row {
  readonly labels: Labels;
  /** True if the name has lost its meaning and is dropped from the answer. */
  readonly dropName: boolean;
  /** The step of `values[0]`; there is nothing before. */
  readonly from: number;
  readonly values: Float64Array;
  /** 1 where there is a value; absent when there is one everywhere. */
  readonly present?: Uint8Array;
  /** Histograms at the steps that have one instead of a number. */
  readonly histograms?: Histograms;
}

export type Value =
  | { readonly type: 'scalar'; readonly values: Float64Array }
  | { readonly type: 'vector'; readonly rows: readonly Row[] }
  | { readonly type: 'string'; readonly value: string };

/** One query while it runs. */
export interface Run {
  readonly source: SeriesSource;
  readonly budget: Budget;
  readonly lookbackMs: number;
  /** Step of subqueries that name none. */
  readonly subqueryStepMs: number;
  /** Names are dropped from the answer, not by each function: a later label_replace() can still see them. */
  readonly delayedNameRemoval: boolean;
  /** True if the `__type__` label, not the name, tells whether a metric is a counter. */
  readonly typeAndUnitLabels: boolean;
  /** Labels that functions make may only have names as before UTF-8 was allowed. */
  readonly legacyLabelNames: boolean;
  readonly enforce: readonly Matcher[];
  readonly notes: Notes;
  /**
   * Window that `start()`, `end()`, `range()` and `step()` return; the step of an instant query is
   * 0.
   */
  readonly window: { readonly start: number; readonly end: number; readonly step: number };
  /** Results of selectors that occur more than once in the query. */
  readonly selected: Map<string, Promise<readonly Series[]>>;
  /**
   * Selectors, by their matchers, that occur more than once in the query. All of them see the same
   * samples.
   */
  readonly repeated: ReadonlySet<string>;
  evaluate(expr: Expr, grid: Grid): Promise<Value>;
}

export const timeAt = (grid: Grid, step: number): number => grid.start + step * grid.step;

export async function rowsOf(run: Run, expr: Expr, grid: Grid): Promise<readonly Row[]> {
  const value = await run.evaluate(expr, grid);
  if (value.type !== 'vector') {
    throw new TypeError(`expected an instant vector, got ${value.type}`);
  }
  return value.rows;
}

export async function scalarsOf(run: Run, expr: Expr, grid: Grid): Promise<Float64Array> {
  const value = await run.evaluate(expr, grid);
  if (value.type !== 'scalar') {
    throw new TypeError(`expected a scalar, got ${value.type}`);
  }
  return value.values;
}

/** Work after which the clock is checked. */
const breathEvery = 1 << 14;

/** Returns a pacer for loops over steps, whose single turns are too short to look at the clock. */
export function pace({ budget }: Run): (work: number) => Promise<void> | undefined {
  let done = 0;
  return (work) => {
    done += work;
    if (done < breathEvery) {
      return undefined;
    }
    done = 0;
    return budget.breathe();
  };
}
