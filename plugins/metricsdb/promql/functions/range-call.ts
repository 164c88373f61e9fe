import { type Labels, labelValue } from 'svc/query';

import { slideMixed } from '../histogram/slide.ts';
import type { Call } from '../parse/ast.ts';
import { quoted } from '../parse/go-text.ts';
import { executionError } from '../parse/position.ts';
import { isCounterName } from '../range/counter-name.ts';
import { withEdges } from '../range/edges.ts';
import { overTimeFunctions } from '../range/over-time.ts';
import { type RangeVector, rangeVector, type Samples } from '../range/range-vector.ts';
import { rateFunctions } from '../range/rate.ts';
import { regressionFunctions } from '../range/regression.ts';
import { marksOf, type RangeFunction, Window } from '../range/window.ts';
import { dataTime } from '../vector/placement.ts';
import {
  LostNames,
  nameless,
  refuseDuplicates,
  RowBuilder,
  type VisitBuilt,
} from '../vector/rows.ts';
import { type Grid, type Row, type Run, scalarsOf, timeAt } from '../vector/run.ts';

export const rangeFunctions: ReadonlyMap<string, RangeFunction> = new Map([
  ...Object.entries(rateFunctions),
  ...Object.entries(overTimeFunctions),
  ...Object.entries(regressionFunctions),
  ['holt_winters', overTimeFunctions['double_exponential_smoothing']!],
]);

/** Look at the ends of each range, or go over the samples once for all ranges. */
const quickFunctions: ReadonlySet<string> = new Set([
  ...[
    'count_over_time',
    'present_over_time',
    'absent_over_time',
    'last_over_time',
    'first_over_time',
    'ts_of_first_over_time',
    'ts_of_last_over_time',
  ],
  ...['rate', 'increase', 'delta', 'irate', 'idelta', 'changes', 'resets'],
]);

/** Samples looked at between two looks at the clock. */
const breathEvery = 1 << 18;

export async function callRangeFunction(run: Run, call: Call, grid: Grid): Promise<readonly Row[]> {
  const rows: Row[] = [];
  await eachRangeRow(
    run,
    call,
    grid,
    (builder, labels, dropName) => void rows.push(builder.take(labels, dropName)!),
  );
  return rows;
}

/** Visits the same rows one after the other, as they stand in their builder. */
export async function eachRangeRow(
  run: Run,
  call: Call,
  grid: Grid,
  visit: VisitBuilt,
): Promise<void> {
  const place = call.func === 'quantile_over_time' ? 1 : 0;
  const { thinned } = rangeFunctions.get(call.func)!;
  const vector = await rangeVector(run, call.args[place]!, grid, { func: call.func, thinned });
  const scalars: Float64Array[] = [];
  for (const [index, arg] of call.args.entries()) {
    if (index !== place) {
      scalars.push(await scalarsOf(run, arg, grid));
    }
  }
  const func = functionFor(call.func, vector);
  const results: { readonly labels: Labels }[] = [];
  const builder = new RowBuilder(run, grid);
  const check = checkOf(run, call);
  const lost = new LostNames();
  const take = (series: Samples, counted = true): void => {
    const dropName = func.keepsName !== true || series.dropName;
    const labels = dropName ? nameless(run, series.labels) : series.labels;
    if (!builder.isEmpty) {
      visit(builder, labels, dropName);
      results.push({ labels });
      lost.add(series.labels, labels);
      if (counted && (call.func === 'rate' || call.func === 'increase')) {
        doubtCounter(run, vector.position, series);
      }
    }
  };
  const sliding = { run, grid, vector, name: call.func, func, scalars, builder, check };
  const mixed = async (series: Samples): Promise<void> =>
    take(series, await slideMixed(sliding, series));
  const passes = quickFunctions.has(call.func)
    ? 0
    : Math.min(grid.count, vector.range / grid.step + 1);
  let foreseen = 0;
  const slow = async (series: Samples): Promise<void> => {
    foreseen += series.length * passes;
    run.budget.foresee(foreseen);
    await slide(run, grid, vector, series, func, scalars, builder, check);
    take(series);
  };
  const { mostSwept = Infinity } = func;
  const sweeps =
    func.sweep !== undefined &&
    vector.edges === undefined &&
    (func.sweepsWith === undefined || func.sweepsWith(scalars));
  await vector.each((series) => {
    if (series.histograms !== undefined) {
      return mixed(series);
    }
    if (!sweeps || series.length > mostSwept) {
      return slow(series);
    }
    sweep(grid, vector, series, func, scalars, builder);
    take(series);
    return undefined;
  });
  if (!run.delayedNameRemoval && !lost.alike && call.func !== 'absent_over_time') {
    await refuseDuplicates(run, results);
  }
}

function functionFor(name: string, { edges }: RangeVector): RangeFunction {
  const plain = rangeFunctions.get(name)!;
  const func = edges === undefined ? plain : withEdges(name, plain, edges);
  if (typeof func === 'string') {
    throw executionError(func);
  }
  return func;
}

function sweep(
  grid: Grid,
  vector: RangeVector,
  { times, values, length, ordinals }: Samples,
  func: RangeFunction,
  scalars: readonly Float64Array[],
  builder: RowBuilder,
): void {
  const course = {
    times,
    values,
    length,
    ordinals,
    range: vector.range,
    end: dataTime(vector, grid, 0),
    advance: vector.at === undefined ? grid.step : 0,
    steps: grid.count,
  };
  builder.fill((into, present) => func.sweep!(course, into, present, scalars));
}

/** Moves the range over the samples of one series, from step to step. */
async function slide(
  run: Run,
  grid: Grid,
  vector: RangeVector,
  { times, values, length, ordinals }: Samples,
  func: RangeFunction,
  scalars: readonly Float64Array[],
  builder: RowBuilder,
  check: ((window: Window) => void) | undefined,
): Promise<void> {
  const before = vector.range + (vector.edges === undefined ? 0 : run.lookbackMs);
  const after = vector.edges === 'smoothed' ? run.lookbackMs : 0;
  const window = new Window(
    times,
    values,
    marksOf(values, length, func.breaks?.bind(func)),
    ordinals,
  );
  window.range = vector.range;
  let from = 0;
  let to = 0;
  let looked = breathEvery;
  for (let step = 0; step < grid.count; step++) {
    const end = dataTime(vector, grid, step);
    while (to < length && times[to]! <= end + after) {
      to++;
    }
    while (from < to && times[from]! <= end - before) {
      from++;
    }
    const count = to - from;
    if (count >= func.least) {
      window.from = from;
      window.to = to;
      window.start = end - vector.range;
      window.end = end;
      window.time = timeAt(grid, step);
      window.a = scalars[0] === undefined ? 0 : scalars[0][step]!;
      window.b = scalars[1] === undefined ? 0 : scalars[1][step]!;
      check?.(window);
      const value =
        count > breathEvery && func.computeMany !== undefined
          ? await func.computeMany(window, run.budget)
          : func.compute(window);
      if (value !== undefined) {
        builder.put(step, value);
      }
    }
    looked += count + 1;
    if (looked > breathEvery) {
      looked = 0;
      await run.budget.breathe();
    }
  }
}

/** Returns the check of a function's scalar arguments at a step, where it has any. */
function checkOf(run: Run, call: Call): ((window: Window) => void) | undefined {
  switch (call.func) {
    case 'quantile_over_time':
      return ({ a }) => {
        if (!(a >= 0 && a <= 1)) {
          run.notes.quantile(call.args[0]!.start, a);
        }
      };
    case 'double_exponential_smoothing':
    case 'holt_winters':
      return ({ a, b }) => {
        requireFactor('smoothing', 'sf', a);
        requireFactor('trend', 'tf', b);
      };
    default:
      return undefined;
  }
}

function requireFactor(name: string, short: string, factor: number): void {
  if (factor <= 0 || factor >= 1) {
    throw executionError(
      `invalid ${name} factor. Expected: 0 < ${short} < 1, got: ${Number.isFinite(factor) ? factor.toFixed(6) : factor > 0 ? '+Inf' : '-Inf'}`,
    );
  }
}

function doubtCounter(run: Run, position: number, { labels }: Samples): void {
  const name = labelValue(labels, '__name__');
  if (name === '') {
    return;
  }
  if (!run.typeAndUnitLabels) {
    if (!isCounterName(name)) {
      run.notes.inform(
        position,
        `metric might not be a counter, name does not end in _total/_sum/_count/_bucket: ${quoted(name)}`,
      );
    }
    return;
  }
  const type = labelValue(labels, '__type__');
  if (type !== 'counter' && type !== 'histogram') {
    run.notes.inform(
      position,
      `metric might not be a counter, __type__ label is not set to "counter" or "histogram", got ${quoted(type)}: ${quoted(name)}`,
    );
  }
}
