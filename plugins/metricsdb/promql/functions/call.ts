import { type NativeHistogram, varianceOf } from 'svc/native-histogram';
import { type Labels, withLabel } from 'svc/query';

import { mapHistograms, numbersOf } from '../histogram/rows.ts';
import { type Call, type Expr, withoutParens } from '../parse/ast.ts';
import { greater, lesser } from '../vector/arithmetic.ts';
import { charge, mapRow, mergeSteps, nameless, RowBuilder } from '../vector/rows.ts';
import {
  type Grid,
  type Row,
  rowsOf,
  type Run,
  scalarsOf,
  timeAt,
  type Value,
} from '../vector/run.ts';
import { instantRows } from '../vector/selection.ts';
import { histogramFraction, histogramQuantile, histogramQuantiles } from './histogram-call.ts';
import { info } from './info.ts';
import { labelJoin, labelReplace, sortByLabel, sortByValue } from './label-functions.ts';
import { dateFunctions, type NumberFunction, numberFunctions } from './number-functions.ts';
import { callRangeFunction, rangeFunctions } from './range-call.ts';

type Handler = (run: Run, call: Call, grid: Grid) => Promise<readonly Row[]>;
type ScalarHandler = (run: Run, call: Call, grid: Grid) => Promise<Float64Array> | Float64Array;

export async function callFunction(run: Run, call: Call, grid: Grid): Promise<Value> {
  const scalar = scalarHandlers[call.func];
  if (scalar !== undefined) {
    charge(run, grid.count);
    return { type: 'scalar', values: await scalar(run, call, grid) };
  }
  return { type: 'vector', rows: await vectorCall(run, call, grid) };
}

async function vectorCall(run: Run, call: Call, grid: Grid): Promise<readonly Row[]> {
  const { func } = call;
  if (func === 'absent_over_time') {
    return absent(run, call, grid, await callRangeFunction(run, call, grid));
  }
  if (rangeFunctions.has(func)) {
    return callRangeFunction(run, call, grid);
  }
  const handler = handlers[func];
  if (handler !== undefined) {
    return handler(run, call, grid);
  }
  const dated = dateFunctions[func];
  if (dated !== undefined && call.args.length === 0) {
    return everywhere(run, grid, (step) => dated(Math.trunc(timeAt(grid, step) / 1000), 0, 0));
  }
  return mapValues(run, call, grid, dated ?? numberFunctions[func]!);
}

const constant = (grid: Grid, value: number): Float64Array =>
  new Float64Array(grid.count).fill(value);

const scalarHandlers: Readonly<Record<string, ScalarHandler>> = {
  time: (_run, _call, grid) => constant(grid, 0).map((_, step) => timeAt(grid, step) / 1000),
  pi: (_run, _call, grid) => constant(grid, Math.PI),
  start: ({ window }, _call, grid) => constant(grid, window.start / 1000),
  end: ({ window }, _call, grid) => constant(grid, window.end / 1000),
  step: ({ window }, _call, grid) => constant(grid, window.step / 1000),
  range: ({ window }, _call, grid) => constant(grid, (window.end - window.start) / 1000),
  max_of: (run, call, grid) => pairwise(run, call, grid, greater),
  min_of: (run, call, grid) => pairwise(run, call, grid, lesser),
  scalar: toScalar,
};

async function pairwise(
  run: Run,
  { args }: Call,
  grid: Grid,
  choose: (a: number, b: number) => number,
): Promise<Float64Array> {
  const left = await scalarsOf(run, args[0]!, grid);
  const right = await scalarsOf(run, args[1]!, grid);
  return left.map((value, step) => choose(value, right[step]!));
}

/** The value of the only series there is at a step, or else NaN. */
async function toScalar(run: Run, { args }: Call, grid: Grid): Promise<Float64Array> {
  const values = constant(grid, NaN);
  const seen = new Uint8Array(grid.count);
  for (const row of numbersOf(await rowsOf(run, args[0]!, grid))) {
    for (let i = 0; i < row.values.length; i++) {
      if (row.present === undefined || row.present[i] === 1) {
        const step = row.from + i;
        values[step] = seen[step] === 1 ? NaN : row.values[i]!;
        seen[step] = 1;
      }
    }
  }
  return values;
}

const statistic =
  (compute: (histogram: NativeHistogram) => number): Handler =>
  async (run, call, grid) =>
    mergeSteps(
      run,
      grid,
      mapHistograms(run, grid, await rowsOf(run, call.args[0]!, grid), compute),
    );

const handlers: Readonly<Record<string, Handler>> = {
  vector: async (run, call, grid) => {
    const values = await scalarsOf(run, call.args[0]!, grid);
    return everywhere(run, grid, (step) => values[step]!);
  },
  timestamp,
  absent: async (run, call, grid) =>
    absent(run, call, grid, await rowsOf(run, call.args[0]!, grid)),
  label_replace: labelReplace,
  label_join: labelJoin,
  sort: (run, call, grid) => sortByValue(run, call, grid, 1),
  sort_desc: (run, call, grid) => sortByValue(run, call, grid, -1),
  sort_by_label: (run, call, grid) => sortByLabel(run, call, grid, 1),
  sort_by_label_desc: (run, call, grid) => sortByLabel(run, call, grid, -1),
  histogram_quantile: histogramQuantile,
  histogram_quantiles: histogramQuantiles,
  histogram_fraction: histogramFraction,
  histogram_count: statistic(({ count }) => count),
  histogram_sum: statistic(({ sum }) => sum),
  histogram_avg: statistic(({ sum, count }) => sum / count),
  histogram_stdvar: statistic(varianceOf),
  histogram_stddev: statistic((histogram) => Math.sqrt(varianceOf(histogram))),
  info,
};

const noLabels: Labels = [];

/** One series without labels that has a value at every step. */
function everywhere(run: Run, grid: Grid, valueAt: (step: number) => number): readonly Row[] {
  const builder = new RowBuilder(run, grid);
  for (let step = 0; step < grid.count; step++) {
    builder.put(step, valueAt(step));
  }
  const row = builder.take(noLabels, false);
  return row === undefined ? [] : [row];
}

async function mapValues(
  run: Run,
  { func, args }: Call,
  grid: Grid,
  change: NumberFunction,
): Promise<readonly Row[]> {
  const rows = numbersOf(await rowsOf(run, args[0]!, grid));
  const [a, b] = await Promise.all(args.slice(1).map((arg) => scalarsOf(run, arg, grid)));
  if (func === 'clamp') {
    return await clamp(run, grid, rows, a!, b!, change);
  }
  const fallback = func === 'round' ? 1 : 0;
  const result: Row[] = [];
  for (const row of rows) {
    result.push(
      mapRow(run, row, nameless(run, row.labels), true, (value, step) =>
        change(value, a === undefined ? fallback : a[step]!, 0),
      ),
    );
    await run.budget.breathe();
  }
  return mergeSteps(run, grid, result);
}

/** There is nothing between bounds that are the wrong way round. */
function clamp(
  run: Run,
  grid: Grid,
  rows: readonly Row[],
  least: Float64Array,
  most: Float64Array,
  change: NumberFunction,
): Promise<readonly Row[]> {
  const builder = new RowBuilder(run, grid);
  const result = rows.flatMap((row) => {
    for (let i = 0; i < row.values.length; i++) {
      const step = row.from + i;
      if ((row.present === undefined || row.present[i] === 1) && !(most[step]! < least[step]!)) {
        builder.put(step, change(row.values[i]!, least[step]!, most[step]!));
      }
    }
    return builder.take(nameless(run, row.labels), true) ?? [];
  });
  return mergeSteps(run, grid, result);
}

/**
 * Implements `timestamp`: for a selector the time of each sample, for anything else the time of
 * evaluation.
 */
async function timestamp(run: Run, { args }: Call, grid: Grid): Promise<readonly Row[]> {
  const arg = withoutParens(args[0]!);
  if (arg.node === 'selector') {
    const rows = await instantRows(run, arg, grid, 'timestamp');
    return mergeSteps(
      run,
      grid,
      rows.map((row) => ({ ...row, labels: nameless(run, row.labels), dropName: true })),
    );
  }
  const rows = await rowsOf(run, arg, grid);
  return mergeSteps(
    run,
    grid,
    rows.map((row) =>
      mapRow(
        run,
        row,
        nameless(run, row.labels),
        true,
        (_value, step) => timeAt(grid, step) / 1000,
      ),
    ),
  );
}

/** 1 where none of the rows has a value. */
function absent(run: Run, { args }: Call, grid: Grid, rows: readonly Row[]): readonly Row[] {
  const seen = new Uint8Array(grid.count);
  for (const row of rows) {
    for (let i = 0; i < row.values.length; i++) {
      if (row.present === undefined || row.present[i] === 1) {
        seen[row.from + i] = 1;
      }
    }
  }
  const builder = new RowBuilder(run, grid);
  seen.forEach((found, step) => {
    if (found === 0) {
      builder.put(step, 1);
    }
  });
  const row = builder.take(wantedLabels(withoutParens(args[0]!)), false);
  return row === undefined ? [] : [row];
}

/** The labels that a selector asks for by their value. */
function wantedLabels(expr: Expr): Labels {
  const selector = expr.node === 'matrix' ? expr.selector : expr;
  if (selector.node !== 'selector') {
    return noLabels;
  }
  let labels = noLabels;
  const named = new Set<string>();
  for (const { name, op, value } of selector.matchers) {
    if (name !== '__name__') {
      labels = withLabel(labels, name, op === '=' && !named.has(name) ? value : '');
      if (op === '=') {
        named.add(name);
      }
    }
  }
  return labels;
}
