import { NativeNotes } from '../histogram/notes.ts';
import { holdsHistograms, numbersOf } from '../histogram/rows.ts';
import { type Aggregation, withoutParens } from '../parse/ast.ts';
import { quantileOf } from '../range/quantile.ts';
import { indexAt, RowBuilder } from '../vector/rows.ts';
import { type Grid, pace, type Row, rowsOf, type Run, scalarsOf } from '../vector/run.ts';
import { chooseRows } from './choose.ts';
import { countValues } from './count-values.ts';
import { folds } from './fold.ts';
import { type Group, groupRows } from './grouping.ts';
import { foldMixed } from './mixed-fold.ts';
import { foldPassing } from './passing-fold.ts';

export async function aggregate(run: Run, expr: Aggregation, grid: Grid): Promise<readonly Row[]> {
  const param = expr.param === undefined ? undefined : withoutParens(expr.param);
  if (param?.node === 'string') {
    return countValues(run, expr, param, await rowsOf(run, expr.expr, grid), grid);
  }
  const passed = param === undefined ? await foldPassing(run, expr, grid) : undefined;
  if (passed !== undefined) {
    return passed;
  }
  const scalars = param === undefined ? undefined : await scalarsOf(run, param, grid);
  const rows = counted(run, expr, await rowsOf(run, withoutParens(expr.expr), grid));
  const groups = await groupRows(run, rows, expr);
  if (scalars === undefined) {
    return foldGroups(run, expr, groups, grid);
  }
  return expr.op === 'quantile'
    ? quantiles(run, groups, grid, scalars, param!.start)
    : chooseRows(run, expr.op, groups, grid, scalars, param!.start, rows.length);
}

/** Aggregations of numbers alone; the others take histograms, too, or pass them on. */
const ofNumbers: ReadonlySet<string> = new Set([
  'min',
  'max',
  'stddev',
  'stdvar',
  'quantile',
  'topk',
  'bottomk',
]);

function counted(run: Run, { op, expr, start }: Aggregation, rows: readonly Row[]): readonly Row[] {
  if (!ofNumbers.has(op) || !holdsHistograms(rows)) {
    return rows;
  }
  new NativeNotes(
    run.notes,
    op.endsWith('k') ? start : withoutParens(expr).start,
  ).ignoredInAggregation(op);
  return numbersOf(rows);
}

const losesName = ({ rows }: Group): boolean => rows.some(({ dropName }) => dropName);

async function foldGroups(
  run: Run,
  { op, expr }: Aggregation,
  groups: readonly Group[],
  grid: Grid,
): Promise<readonly Row[]> {
  run.budget.bytes(grid.count * 32);
  const fold = folds[op]!(grid.count);
  const paced = pace(run);
  const builder = new RowBuilder(run, grid);
  const result: Row[] = [];
  for (const group of groups) {
    if ((op === 'sum' || op === 'avg') && holdsHistograms(group.rows)) {
      const row = await foldMixed(
        run,
        grid,
        group,
        op,
        new NativeNotes(run.notes, withoutParens(expr).start),
      );
      result.push(...(row === undefined ? [] : [row]));
      continue;
    }
    fold.clear();
    for (const row of group.rows) {
      fold.addRow(row);
      const pause = paced(row.values.length);
      if (pause !== undefined) {
        await pause;
      }
    }
    for (let step = 0; step < grid.count; step++) {
      if (fold.count[step]! > 0) {
        builder.put(step, fold.result(step));
      }
    }
    result.push(builder.take(group.labels, losesName(group))!);
  }
  return result;
}

async function quantiles(
  run: Run,
  groups: readonly Group[],
  grid: Grid,
  q: Float64Array,
  position: number,
): Promise<readonly Row[]> {
  noteQuantiles(run, q, position);
  const paced = pace(run);
  const builder = new RowBuilder(run, grid);
  const result: Row[] = [];
  for (const group of groups) {
    const column = new Float64Array(group.rows.length);
    for (let step = 0; step < grid.count; step++) {
      let count = 0;
      for (const row of group.rows) {
        const index = indexAt(row, step);
        if (index !== -1) {
          column[count++] = row.values[index]!;
        }
      }
      if (count > 0) {
        builder.put(step, quantileOf(q[step]!, column.subarray(0, count)));
      }
      const pause = paced(column.length);
      if (pause !== undefined) {
        await pause;
      }
    }
    result.push(builder.take(group.labels, losesName(group))!);
  }
  return result;
}

/** Adds a remark for the most extreme value outside, once for each side. */
function noteQuantiles(run: Run, q: Float64Array, position: number): void {
  let least = Infinity;
  let most = -Infinity;
  for (const value of q) {
    if (Number.isNaN(value)) {
      run.notes.quantile(position, NaN);
      return;
    }
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  if (most > 1) {
    run.notes.quantile(position, most);
  }
  if (least < 0) {
    run.notes.quantile(position, least);
  }
}
