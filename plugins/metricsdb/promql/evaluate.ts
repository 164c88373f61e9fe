import { times } from 'svc/native-histogram';
import { labelValue } from 'svc/query';

import { aggregate } from './aggregate/aggregate.ts';
import { callFunction } from './functions/call.ts';
import { smoothedSample } from './histogram/edges.ts';
import { NativeNotes } from './histogram/notes.ts';
import { samplesIn } from './histogram/range.ts';
import { binary } from './operators/binary.ts';
import { type Expr, type Unary, type VectorSelector, withoutParens } from './parse/ast.ts';
import { isStepInvariant } from './parse/signatures.ts';
import { smoothedAt } from './range/edges.ts';
import { dataTime, place } from './vector/placement.ts';
import { charge, mapRow, mergeRows, nameless, RowBuilder } from './vector/rows.ts';
import type { Grid, Row, Run, Value } from './vector/run.ts';
import { eachSelected, instantRows, withoutStale } from './vector/selection.ts';
import type { Series } from './vector/source.ts';

/** Evaluates an expression at every step of a grid. A constant one is computed once. */
export async function evaluate(run: Run, expr: Expr, grid: Grid): Promise<Value> {
  const pause = run.budget.breathe();
  if (pause !== undefined) {
    await pause;
  }
  const constant =
    expr.node === 'number' ||
    expr.node === 'string' ||
    expr.node === 'matrix' ||
    expr.node === 'subquery';
  if (grid.count > 1 && !constant && isStepInvariant(expr)) {
    return spread(run, await evaluateNode(run, expr, { ...grid, count: 1 }), grid);
  }
  return evaluateNode(run, expr, grid);
}

function spread(run: Run, value: Value, grid: Grid): Value {
  if (value.type === 'string') {
    return value;
  }
  if (value.type === 'scalar') {
    charge(run, grid.count);
    return { type: 'scalar', values: new Float64Array(grid.count).fill(value.values[0]!) };
  }
  const rows = value.rows.map((row) => {
    charge(run, grid.count);
    const histogram = row.histograms?.[0];
    return {
      labels: row.labels,
      dropName: row.dropName,
      from: 0,
      values: new Float64Array(grid.count).fill(row.values[0]!),
      ...(histogram && { histograms: Array.from({ length: grid.count }, () => histogram) }),
    };
  });
  return { type: 'vector', rows };
}

async function evaluateNode(run: Run, expr: Expr, grid: Grid): Promise<Value> {
  switch (expr.node) {
    case 'number':
      charge(run, grid.count);
      return { type: 'scalar', values: new Float64Array(grid.count).fill(expr.value) };
    case 'string':
      return { type: 'string', value: expr.value };
    case 'selector':
      return vector(
        expr.edges === 'smoothed'
          ? await smoothedRows(run, expr, grid)
          : await instantRows(run, expr, grid, 'value'),
      );
    case 'paren':
      return evaluate(run, withoutParens(expr), grid);
    case 'unary':
      return negate(run, expr, grid);
    case 'binary':
      return binary(run, expr, grid);
    case 'aggregation':
      return vector(await aggregate(run, expr, grid));
    case 'call':
      return callFunction(run, expr, grid);
    case 'matrix':
    case 'subquery':
      throw new TypeError('a range vector has no value at a step');
  }
}

const vector = (rows: readonly Row[]): Value => ({ type: 'vector', rows });

async function negate(run: Run, { op, expr }: Unary, grid: Grid): Promise<Value> {
  const value = await run.evaluate(expr, grid);
  if (op === '+' || value.type === 'string') {
    return value;
  }
  if (value.type === 'scalar') {
    return { type: 'scalar', values: value.values.map((one) => -one) };
  }
  const rows = value.rows.map((row) => ({
    ...mapRow(run, row, nameless(run, row.labels), true, (one) => -one),
    ...(row.histograms && { histograms: row.histograms.map((one) => one && times(one, -1)) }),
  }));
  return vector(run.delayedNameRemoval ? rows : await mergeRows(run, grid, rows));
}

/** An instant vector whose values lie on the lines between samples. */
async function smoothedRows(
  run: Run,
  selector: VectorSelector,
  grid: Grid,
): Promise<readonly Row[]> {
  const placed = place(run, selector);
  const mint = dataTime(placed, grid, 0) - run.lookbackMs;
  const maxt = dataTime(placed, grid, grid.count - 1) + run.lookbackMs;
  const builder = new RowBuilder(run, grid);
  const notes = new NativeNotes(run.notes, selector.start);
  const nameOf = ({ labels }: Series): string => labelValue(labels, '__name__');
  const rows: Row[] = [];
  await eachSelected(run, selector, mint, maxt, { step: grid.step }, (series) => {
    const known = withoutStale(series);
    const { times: moments, values, length, histograms } = known;
    let from = 0;
    let to = 0;
    for (let step = 0; step < grid.count; step++) {
      const time = dataTime(placed, grid, step);
      while (to < length && moments[to]! <= time + run.lookbackMs) {
        to++;
      }
      while (from < to && moments[from]! <= time - run.lookbackMs) {
        from++;
      }
      const native = histograms?.slice(from, to).some((one) => one !== undefined) === true;
      const value = native
        ? smoothedSample(samplesIn(known, from, to), time, nameOf(series), notes)
        : smoothedAt(moments, values, from, to, time);
      if (value !== undefined) {
        builder.putSample(step, value);
      }
    }
    const row = builder.take(series.labels, false);
    if (row !== undefined) {
      rows.push(row);
    }
  });
  return rows;
}
