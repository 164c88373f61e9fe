import { fractionOf, type NativeHistogram, quantileOfHistogram } from 'svc/native-histogram';
import {
  labelsKey,
  labelValue,
  parseFloatGo,
  withLabel,
  type Labels,
  withoutLabels,
} from 'svc/query';

import { type Bucket, bucketFraction, bucketQuantile, coalesce } from '../histogram/buckets.ts';
import { NativeNotes } from '../histogram/notes.ts';
import { mapHistograms, numbersOf } from '../histogram/rows.ts';
import type { Call, Expr } from '../parse/ast.ts';
import { plainFloat } from '../parse/go-text.ts';
import { indexAt, mergeSteps, nameless, RowBuilder } from '../vector/rows.ts';
import { type Grid, pace, type Row, rowsOf, type Run, scalarsOf, timeAt } from '../vector/run.ts';
import { textOf } from './label-functions.ts';

/** The bucket series of one histogram. */
interface Histogram {
  readonly labels: Labels;
  readonly rows: { readonly row: Row; readonly bound: number }[];
  /** Steps at which it also exists as a native histogram. */
  readonly twice?: ReadonlySet<number>;
}

const boundLabel = new Set(['le']);

/** The two forms that a vector can hold. */
interface Forms {
  readonly classic: readonly Histogram[];
  readonly native: readonly Row[];
}

async function formsOf(run: Run, expr: Expr, grid: Grid): Promise<Forms> {
  const rows = await rowsOf(run, expr, grid);
  const classic = histogramsOf(run, numbersOf(rows), expr.start);
  const native = rows.filter(({ histograms }) => histograms !== undefined);
  return native.length === 0 ? { classic, native } : withoutTwins(run, classic, native, expr.start);
}

/** Drops series that exist in both forms at a step; they count in neither. */
function withoutTwins(
  run: Run,
  classic: readonly Histogram[],
  native: readonly Row[],
  position: number,
): Forms {
  const byLabels = new Map(
    classic.map((histogram) => [
      labelsKey(histogram.labels),
      { histogram, twice: new Set<number>() },
    ]),
  );
  const left = native.map((row) => {
    const other = byLabels.get(labelsKey(row.labels));
    if (other === undefined) {
      return row;
    }
    return {
      ...row,
      histograms: row.histograms!.map((one, index) => {
        if (
          one === undefined ||
          other.histogram.rows.every(
            ({ row: buckets }) => indexAt(buckets, row.from + index) === -1,
          )
        ) {
          return one;
        }
        new NativeNotes(run.notes, position).mixedClassic(
          run.delayedNameRemoval ? labelValue(row.labels, '__name__') : '',
        );
        other.twice.add(row.from + index);
        return undefined;
      }),
    };
  });
  return {
    classic: [...byLabels.values()].map(({ histogram, twice }) => ({ ...histogram, twice })),
    native: left,
  };
}

function histogramsOf(run: Run, rows: readonly Row[], position: number): readonly Histogram[] {
  const histograms = new Map<string, Histogram>();
  for (const row of rows) {
    const text = labelValue(row.labels, 'le');
    const bound = parseFloatGo(text);
    if (bound === undefined) {
      run.notes.badBucket(
        position,
        text,
        run.delayedNameRemoval ? labelValue(row.labels, '__name__') : '',
      );
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

function bucketsAt({ rows, twice }: Histogram, step: number): Bucket[] {
  const buckets: Bucket[] = [];
  if (twice?.has(step)) {
    return buckets;
  }
  for (const { row, bound } of rows) {
    const index = indexAt(row, step);
    if (index !== -1) {
      buckets.push({ bound, count: row.values[index]! });
    }
  }
  return coalesce(buckets);
}

interface Compute {
  classic(buckets: Bucket[], step: number, labels: Labels): number;
  native(histogram: NativeHistogram, step: number, name: string): number;
}

async function eachHistogram(
  run: Run,
  grid: Grid,
  forms: Forms,
  compute: Compute,
  label: (labels: Labels) => Labels,
): Promise<Row[]> {
  const natively = (histogram: NativeHistogram, step: number, { labels }: Row): number =>
    compute.native(histogram, step, run.delayedNameRemoval ? labelValue(labels, '__name__') : '');
  const native = mapHistograms(run, grid, forms.native, natively).map((row) => ({
    ...row,
    labels: label(row.labels),
  }));
  return [...(await eachClassic(run, grid, forms.classic, compute, label)), ...native];
}

async function eachClassic(
  run: Run,
  grid: Grid,
  histograms: readonly Histogram[],
  compute: Compute,
  label: (labels: Labels) => Labels,
): Promise<Row[]> {
  const builder = new RowBuilder(run, grid);
  const paced = pace(run);
  const result: Row[] = [];
  for (const histogram of histograms) {
    for (let step = 0; step < grid.count; step++) {
      const buckets = bucketsAt(histogram, step);
      if (buckets.length > 0) {
        builder.put(step, compute.classic(buckets, step, histogram.labels));
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

export async function histogramFraction(
  run: Run,
  { args }: Call,
  grid: Grid,
): Promise<readonly Row[]> {
  const lower = await scalarsOf(run, args[0]!, grid);
  const upper = await scalarsOf(run, args[1]!, grid);
  const forms = await formsOf(run, args[2]!, grid);
  const notes = new NativeNotes(run.notes, args[2]!.start);
  const compute: Compute = {
    classic: (buckets, step) => bucketFraction(lower[step]!, upper[step]!, buckets),
    native(histogram, step, name) {
      const found = fractionOf(lower[step]!, upper[step]!, histogram);
      notes.fraction(found, name);
      return found.value;
    },
  };
  return mergeSteps(run, grid, await eachHistogram(run, grid, forms, compute, unchanged));
}

export async function histogramQuantile(
  run: Run,
  { args }: Call,
  grid: Grid,
): Promise<readonly Row[]> {
  const q = await quantileArgument(run, args[0]!, grid);
  const forms = await formsOf(run, args[1]!, grid);
  return mergeSteps(
    run,
    grid,
    await eachHistogram(run, grid, forms, quantileOver(run, grid, q, args[1]!.start), unchanged),
  );
}

/** One quantile after the other, each in a label of its own value. */
export async function histogramQuantiles(
  run: Run,
  { args }: Call,
  grid: Grid,
): Promise<readonly Row[]> {
  const forms = await formsOf(run, args[0]!, grid);
  const label = textOf(args[1]!);
  const result: Row[] = [];
  for (const arg of args.slice(2)) {
    const q = await quantileArgument(run, arg, grid);
    for (const value of new Set(q)) {
      const compute = quantileOver(run, grid, q, args[0]!.start);
      const rows = await eachHistogram(run, grid, forms, compute, (labels) =>
        withLabel(labels, label, openFloat(value)),
      );
      result.push(...rows.flatMap((row) => whereEqual(run, grid, row, q, value) ?? []));
    }
  }
  return mergeSteps(run, grid, result);
}

/** Formats a number as exposition formats do: whole ones with a point. */
function openFloat(value: number): string {
  const text = plainFloat(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function whereEqual(
  run: Run,
  grid: Grid,
  row: Row,
  q: Float64Array,
  value: number,
): Row | undefined {
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

async function quantileArgument(
  run: Run,
  expr: Call['args'][number],
  grid: Grid,
): Promise<Float64Array> {
  const values = await scalarsOf(run, expr, grid);
  for (const q of values) {
    if (!(q >= 0 && q <= 1)) {
      run.notes.quantile(expr.start, q);
    }
  }
  return values;
}

function quantileOver(run: Run, grid: Grid, q: Float64Array, position: number): Compute {
  const notes = new NativeNotes(run.notes, position);
  return {
    classic(buckets, step, labels) {
      const { value, fix } = bucketQuantile(q[step]!, buckets);
      if (fix !== undefined) {
        const name = run.delayedNameRemoval ? labelValue(labels, '__name__') : '';
        run.notes.forcedMonotonic(
          position,
          name,
          timeAt(grid, step),
          fix.least,
          fix.most,
          fix.difference,
        );
      }
      return value;
    },
    native(histogram, step, name) {
      const found = quantileOfHistogram(q[step]!, histogram);
      notes.quantile(found, name);
      return found.value;
    },
  };
}
