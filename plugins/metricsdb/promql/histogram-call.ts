import { labelsKey, labelValue, parseFloatGo, withLabel, type Labels, withoutLabels } from 'svc/query';

import type { Call } from './ast.ts';
import { type Bucket, bucketFraction, bucketQuantile, coalesce } from './buckets.ts';
import { plainFloat } from './go-text.ts';
import { textOf } from './label-functions.ts';
import { indexAt, mergeSteps, nameless, RowBuilder } from './rows.ts';
import { type Grid, pace, type Row, rowsOf, type Run, scalarsOf, timeAt } from './run.ts';

/** The bucket series of one histogram. */
interface Histogram {
  readonly labels: Labels;
  readonly rows: { readonly row: Row; readonly bound: number }[];
}

const boundLabel = new Set(['le']);

function histogramsOf(run: Run, rows: readonly Row[], position: number): readonly Histogram[] {
  const histograms = new Map<string, Histogram>();
  for (const row of rows) {
    const text = labelValue(row.labels, 'le');
    const bound = parseFloatGo(text);
    if (bound === undefined) {
      run.notes.badBucket(position, text, run.delayedNameRemoval ? labelValue(row.labels, '__name__') : '');
      continue;
    }
    const labels = withoutLabels(row.labels, boundLabel);
    const key = labelsKey(labels);
    const histogram = histograms.get(key) ?? { labels, rows: [] };
    histogram.rows.push({ row, bound });
    histograms.set(key, histogram);
  }
  return [...histograms.values()];
}

function bucketsAt({ rows }: Histogram, step: number): Bucket[] {
  const buckets: Bucket[] = [];
  for (const { row, bound } of rows) {
    const index = indexAt(row, step);
    if (index !== -1) {
      buckets.push({ bound, count: row.values[index]! });
    }
  }
  return coalesce(buckets);
}

type Compute = (buckets: Bucket[], step: number, labels: Labels) => number;

async function eachHistogram(run: Run, grid: Grid, histograms: readonly Histogram[], compute: Compute, label: (labels: Labels) => Labels): Promise<Row[]> {
  const builder = new RowBuilder(run, grid);
  const paced = pace(run);
  const result: Row[] = [];
  for (const histogram of histograms) {
    for (let step = 0; step < grid.count; step++) {
      const buckets = bucketsAt(histogram, step);
      if (buckets.length > 0) {
        builder.put(step, compute(buckets, step, histogram.labels));
      }
      const pause = paced(histogram.rows.length);
      if (pause !== undefined) {
        await pause;
      }
    }
    const row = builder.take(label(nameless(run, histogram.labels)), true);
    if (row !== undefined) {
      result.push(row);
    }
  }
  return result;
}

const unchanged = (labels: Labels): Labels => labels;

export async function histogramFraction(run: Run, { args }: Call, grid: Grid): Promise<readonly Row[]> {
  const lower = await scalarsOf(run, args[0]!, grid);
  const upper = await scalarsOf(run, args[1]!, grid);
  const histograms = histogramsOf(run, await rowsOf(run, args[2]!, grid), args[2]!.start);
  const rows = await eachHistogram(run, grid, histograms, (buckets, step) => bucketFraction(lower[step]!, upper[step]!, buckets), unchanged);
  return mergeSteps(run, grid, rows);
}

export async function histogramQuantile(run: Run, { args }: Call, grid: Grid): Promise<readonly Row[]> {
  const q = await quantileArgument(run, args[0]!, grid);
  const histograms = histogramsOf(run, await rowsOf(run, args[1]!, grid), args[1]!.start);
  return mergeSteps(run, grid, await eachHistogram(run, grid, histograms, quantileOver(run, grid, q, args[1]!.start), unchanged));
}

/** One quantile after the other, each in a label of its own value. */
export async function histogramQuantiles(run: Run, { args }: Call, grid: Grid): Promise<readonly Row[]> {
  const histograms = histogramsOf(run, await rowsOf(run, args[0]!, grid), args[0]!.start);
  const label = textOf(args[1]!);
  const result: Row[] = [];
  for (const arg of args.slice(2)) {
    const q = await quantileArgument(run, arg, grid);
    for (const value of new Set(q)) {
      const compute = quantileOver(run, grid, q, args[0]!.start);
      const rows = await eachHistogram(run, grid, histograms, compute, (labels) => withLabel(labels, label, openFloat(value)));
      result.push(...rows.flatMap((row) => whereEqual(run, grid, row, q, value) ?? []));
    }
  }
  return mergeSteps(run, grid, result);
}

/** As exposition formats write numbers: whole ones with a point. */
function openFloat(value: number): string {
  const text = plainFloat(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function whereEqual(run: Run, grid: Grid, row: Row, q: Float64Array, value: number): Row | undefined {
  if (q.every((other) => Object.is(other, value))) {
    return row;
  }
  const builder = new RowBuilder(run, grid);
  for (let step = row.from; step < row.from + row.values.length; step++) {
    const index = indexAt(row, step);
    if (index !== -1 && Object.is(q[step], value)) {
      builder.put(step, row.values[index]!);
    }
  }
  return builder.take(row.labels, row.dropName);
}

async function quantileArgument(run: Run, expr: Call['args'][number], grid: Grid): Promise<Float64Array> {
  const values = await scalarsOf(run, expr, grid);
  for (const q of values) {
    if (!(q >= 0 && q <= 1)) {
      run.notes.quantile(expr.start, q);
    }
  }
  return values;
}

function quantileOver(run: Run, grid: Grid, q: Float64Array, position: number): Compute {
  return (buckets, step, labels) => {
    const { value, fix } = bucketQuantile(q[step]!, buckets);
    if (fix !== undefined) {
      const name = run.delayedNameRemoval ? labelValue(labels, '__name__') : '';
      run.notes.forcedMonotonic(position, name, timeAt(grid, step), fix.least, fix.most, fix.difference);
    }
    return value;
  };
}
