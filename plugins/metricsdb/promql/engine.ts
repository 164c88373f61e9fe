import type { NativeHistogram } from 'svc/native-histogram';
import {
  type Budget,
  compareLabels,
  type DeviceNameTable,
  type Labels,
  type Matcher,
  sortedList,
} from 'svc/query';

import { evaluate } from './evaluate.ts';
import { type Expr, selectorsOf, withoutParens } from './parse/ast.ts';
import { parse } from './parse/parser.ts';
import { executionError, parseError } from './parse/position.ts';
import { valueTypeOf } from './parse/signatures.ts';
import { extended } from './range/edges.ts';
import { rangeVector, type RangeVector, type Samples } from './range/range-vector.ts';
import { Window } from './range/window.ts';
import { namedSource, namesDevice } from './vector/named-source.ts';
import { Notes } from './vector/notes.ts';
import { dataTime } from './vector/placement.ts';
import { mergeRows, refuseDuplicates, withoutMetadata } from './vector/rows.ts';
import { type Grid, type Row, rowsOf, type Run, scalarsOf, timeAt } from './vector/run.ts';
import { selectorKey } from './vector/selection.ts';
import type { Histograms, SeriesSource } from './vector/source.ts';

export interface EngineOptions {
  readonly query: string;
  /** Max age of a sample that counts as current; default 5 minutes. */
  readonly lookbackMs?: number;
  /** Step of subqueries that name none; 1 minute. */
  readonly subqueryStepMs?: number;
  readonly delayedNameRemoval?: boolean;
  readonly typeAndUnitLabels?: boolean;
  /** Labels that functions make may only be named `[a-zA-Z_][a-zA-Z0-9_]*`, as in the second major version of Prometheus. */
  readonly legacyLabelNames?: boolean;
  /** Added to every selector: what the asker may see. */
  readonly enforce?: readonly Matcher[];
  /** Names of devices, for queries that name the label `device`. */
  readonly names?: DeviceNameTable;
}

export interface RangeSeries {
  readonly labels: Labels;
  /** Milliseconds. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly histograms?: Histograms;
}

interface Remarks {
  readonly warnings: string[];
  readonly infos: string[];
}

export interface InstantSample {
  readonly labels: Labels;
  readonly value: number;
  readonly time: number;
  /** Then the value means nothing. */
  readonly histogram?: NativeHistogram;
}

export type InstantResult = Remarks &
  (
    | { readonly type: 'scalar'; readonly time: number; readonly value: number }
    | { readonly type: 'string'; readonly time: number; readonly value: string }
    | {
        readonly type: 'vector';
        readonly samples: readonly InstantSample[];
        /** True if the order of the samples is part of the answer. */
        readonly ordered: boolean;
      }
    | { readonly type: 'matrix'; readonly series: readonly RangeSeries[] }
  );

export type RangeResult = Remarks & {
  readonly type: 'matrix';
  readonly series: readonly RangeSeries[];
};

/** The value of an expression at one time, in milliseconds. */
export async function instant(
  source: SeriesSource,
  options: EngineOptions & { readonly time: number },
  budget: Budget,
): Promise<InstantResult> {
  const expr = parse(options.query);
  const { time } = options;
  const run = start(source, expr, options, budget, { start: time, end: time, step: 0 });
  const grid: Grid = { start: time, step: 1, count: 1 };
  const remarks = (): Remarks => remarksOf(run, options.query);
  switch (valueTypeOf(expr)) {
    case 'scalar': {
      const [value] = await scalarsOf(run, expr, grid);
      return { type: 'scalar', time, value: value!, ...remarks() };
    }
    case 'string': {
      const inner = withoutParens(expr);
      return {
        type: 'string',
        time,
        value: inner.node === 'string' ? inner.value : '',
        ...remarks(),
      };
    }
    case 'matrix': {
      const series = await rangeAt(run, expr, grid);
      return { type: 'matrix', series, ...remarks() };
    }
    case 'vector': {
      const rows = named(await rowsOf(run, expr, grid));
      await refuseDuplicates(run, rows);
      const samples = rows.map(({ labels, values, histograms }) => ({
        labels,
        time,
        value: values[0]!,
        ...(histograms?.[0] && { histogram: histograms[0] }),
      }));
      return { type: 'vector', samples, ordered: isOrdered(expr), ...remarks() };
    }
  }
}

/** The values of an expression at `start`, `start + step` and so on up to `end`, all in milliseconds. */
export async function range(
  source: SeriesSource,
  options: EngineOptions & { readonly start: number; readonly end: number; readonly step: number },
  budget: Budget,
): Promise<RangeResult> {
  const { query, start: first, end, step } = options;
  const expr = parse(query);
  const type = valueTypeOf(expr);
  if (type !== 'scalar' && type !== 'vector') {
    throw parseError(
      query,
      0,
      `invalid expression type ${type === 'matrix' ? '"range vector"' : '"string"'} for range query, must be Scalar or instant Vector`,
    );
  }
  if (!(step > 0) || end < first) {
    throw executionError(
      'a range query needs a step above zero and an end that is not before its start',
    );
  }
  const run = start(source, expr, options, budget, { start: first, end, step });
  const grid: Grid = { start: first, step, count: Math.floor((end - first) / step) + 1 };
  budget.spend(grid.count);
  if (type === 'scalar') {
    const values = await scalarsOf(run, expr, grid);
    return {
      type: 'matrix',
      series: [{ labels: [], times: timesFrom(grid, 0, grid.count), values }],
      ...remarksOf(run, query),
    };
  }
  const rows = await mergeRows(run, grid, named(await rowsOf(run, expr, grid)));
  const series = await byLabels(run, rows.map(pointsOn(grid)));
  return { type: 'matrix', series, ...remarksOf(run, query) };
}

function start(
  source: SeriesSource,
  expr: Expr,
  options: EngineOptions,
  budget: Budget,
  window: Run['window'],
): Run {
  const { names } = options;
  const run: Run = {
    source:
      names !== undefined && !names.isEmpty && namesDevice(expr)
        ? namedSource(source, names)
        : source,
    budget,
    lookbackMs: options.lookbackMs ?? 5 * 60_000,
    subqueryStepMs: options.subqueryStepMs ?? 60_000,
    delayedNameRemoval: options.delayedNameRemoval ?? false,
    typeAndUnitLabels: options.typeAndUnitLabels ?? false,
    legacyLabelNames: options.legacyLabelNames ?? false,
    enforce: options.enforce ?? [],
    notes: new Notes(),
    window,
    selected: new Map(),
    repeated: repeatedSelectors(expr),
    evaluate: (expr, grid) => evaluate(run, expr, grid),
  };
  return run;
}

/** Returns the remarks caused by the query itself and by its samples. */
function remarksOf({ notes, budget }: Run, query: string): Remarks {
  const { warnings, infos } = notes.lists(query);
  return { warnings: [...warnings, ...budget.warnings], infos };
}

function repeatedSelectors(expr: Expr): ReadonlySet<string> {
  const seen = new Set<string>();
  const keys = selectorsOf(expr).map(({ matchers }) => selectorKey(matchers));
  return new Set(keys.filter((key) => seen.size === seen.add(key).size));
}

/** Removes metric names that lost their meaning on the way. */
const named = (rows: readonly Row[]): readonly Row[] =>
  rows.map((row) => (row.dropName ? { ...row, labels: withoutMetadata(row.labels) } : row));

/** Turns rows into points; those that have a value at the same steps throughout share one array of times. */
function pointsOn(grid: Grid): (row: Row) => RangeSeries {
  const shared = new Map<number, Float64Array>();
  return ({ labels, from, values, present, histograms }) => {
    const { length } = values;
    if (present === undefined) {
      const place = from * (grid.count + 1) + length;
      let times = shared.get(place);
      if (times === undefined) {
        times = timesFrom(grid, from, length);
        shared.set(place, times);
      }
      return { labels, values, times, ...(histograms && { histograms }) };
    }
    let count = 0;
    for (let i = 0; i < length; i++) {
      count += present[i]!;
    }
    const times = new Float64Array(count);
    const kept = new Float64Array(count);
    let next = 0;
    for (let i = 0; i < length; i++) {
      if (present[i] === 1) {
        times[next] = timeAt(grid, from + i);
        kept[next++] = values[i]!;
      }
    }
    return {
      labels,
      times,
      values: kept,
      ...(histograms && {
        histograms: [...values.keys()].filter((i) => present[i] === 1).map((i) => histograms[i]),
      }),
    };
  };
}

function timesFrom(grid: Grid, from: number, length: number): Float64Array {
  const times = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    times[i] = timeAt(grid, from + i);
  }
  return times;
}

/** The samples of a range selector or subquery themselves. */
async function rangeAt(run: Run, expr: Expr, grid: Grid): Promise<RangeSeries[]> {
  const vector = await rangeVector(run, expr, grid);
  const series: RangeSeries[] = [];
  await vector.each((samples) => {
    const { times, values, length, histograms } = within(
      run,
      vector,
      samples,
      dataTime(vector, grid, 0),
    );
    if (length > 0) {
      series.push({
        labels: samples.dropName ? withoutMetadata(samples.labels) : samples.labels,
        times: times.slice(0, length),
        values: values.slice(0, length),
        ...(histograms && { histograms: histograms.slice(0, length) }),
      });
    }
  });
  await refuseDuplicates(run, series);
  return await byLabels(run, series);
}

const byLabels = ({ budget }: Run, series: readonly RangeSeries[]): Promise<RangeSeries[]> =>
  sortedList(series, (a, b) => compareLabels(a.labels, b.labels), budget);

function within(run: Run, vector: RangeVector, samples: Samples, end: number): Samples {
  if (vector.edges === undefined || samples.length === 0) {
    return samples;
  }
  const window = new Window(samples.times, samples.values, new Int32Array());
  window.to = samples.length;
  window.start = end - vector.range;
  window.end = end;
  run.budget.spend(samples.length);
  return extended(window, samples, vector.edges);
}

/**
 * Returns whether an answer is ordered: only by an outermost sort or choice of the largest or
 * smallest.
 */
function isOrdered(expr: Expr): boolean {
  const inner = withoutParens(expr);
  return inner.node === 'call'
    ? inner.func.startsWith('sort')
    : inner.node === 'aggregation' && (inner.op === 'topk' || inner.op === 'bottomk');
}
