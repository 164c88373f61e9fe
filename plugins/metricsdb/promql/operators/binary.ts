import { NativeNotes } from '../histogram/notes.ts';
import { operateNatively, putOutcome } from '../histogram/operation.ts';
import type { Binary } from '../parse/ast.ts';
import { valueTypeOf } from '../parse/signatures.ts';
import { isTrim, setOperators } from '../parse/token.ts';
import { arithmetic, comparisons } from '../vector/arithmetic.ts';
import { charge, mapRow, mergeSteps, nameless, RowBuilder } from '../vector/rows.ts';
import { type Grid, type Row, rowsOf, type Run, scalarsOf, type Value } from '../vector/run.ts';
import { combineSets } from './set-operation.ts';
import { combineVectors } from './vector-operation.ts';

export async function binary(run: Run, expr: Binary, grid: Grid): Promise<Value> {
  const left = valueTypeOf(expr.left);
  const right = valueTypeOf(expr.right);
  if (left === 'scalar' && right === 'scalar') {
    charge(run, grid.count);
    return {
      type: 'scalar',
      values: combineScalars(
        expr.op,
        await scalarsOf(run, expr.left, grid),
        await scalarsOf(run, expr.right, grid),
      ),
    };
  }
  return {
    type: 'vector',
    rows: await vectorResult(run, expr, grid, left === 'scalar', right === 'scalar'),
  };
}

async function vectorResult(
  run: Run,
  expr: Binary,
  grid: Grid,
  leftScalar: boolean,
  rightScalar: boolean,
): Promise<readonly Row[]> {
  if (leftScalar) {
    const scalars = await scalarsOf(run, expr.left, grid);
    return withScalars(run, expr, grid, await rowsOf(run, expr.right, grid), scalars, true);
  }
  const rows = await rowsOf(run, expr.left, grid);
  if (rightScalar) {
    return withScalars(run, expr, grid, rows, await scalarsOf(run, expr.right, grid), false);
  }
  const others = await rowsOf(run, expr.right, grid);
  return setOperators.has(expr.op)
    ? combineSets(run, grid, expr.op, expr.matching, rows, others)
    : combineVectors(run, grid, expr, rows, others);
}

function combineScalars(op: string, left: Float64Array, right: Float64Array): Float64Array {
  const compute = arithmetic[op];
  const compare = comparisons[op];
  return left.map((value, step) =>
    compute !== undefined ? compute(value, right[step]!) : Number(compare!(value, right[step]!)),
  );
}

async function withScalars(
  run: Run,
  { op, bool, start }: Binary,
  grid: Grid,
  rows: readonly Row[],
  scalars: Float64Array,
  swapped: boolean,
): Promise<readonly Row[]> {
  const compute = arithmetic[op];
  const compare = comparisons[op];
  const builder = new RowBuilder(run, grid);
  const trim = isTrim(op);
  const notes = new NativeNotes(run.notes, start);
  const losesName = compute !== undefined || bool;
  const result: Row[] = [];
  for (const row of rows) {
    if (compute !== undefined && row.histograms === undefined) {
      const labels = nameless(run, row.labels);
      result.push(
        swapped
          ? mapRow(run, row, labels, true, (value, step) => compute(scalars[step]!, value))
          : mapRow(run, row, labels, true, (value, step) => compute(value, scalars[step]!)),
      );
      await run.budget.breathe();
      continue;
    }
    for (let i = 0; i < row.values.length; i++) {
      if (row.present !== undefined && row.present[i] !== 1) {
        continue;
      }
      const step = row.from + i;
      const value = row.values[i]!;
      const scalar = scalars[step]!;
      const histogram = row.histograms?.[i];
      if (histogram !== undefined || trim) {
        const sample = histogram ?? value;
        putOutcome(
          builder,
          step,
          operateNatively(op, swapped ? scalar : sample, swapped ? sample : scalar, notes),
          bool,
        );
        continue;
      }
      if (compute !== undefined) {
        builder.put(step, swapped ? compute(scalar, value) : compute(value, scalar));
        continue;
      }
      const holds = swapped ? compare!(scalar, value) : compare!(value, scalar);
      if (bool || holds) {
        builder.put(step, bool ? Number(holds) : value);
      }
    }
    const kept = builder.take(
      losesName ? nameless(run, row.labels) : row.labels,
      losesName || row.dropName,
    );
    if (kept !== undefined) {
      result.push(kept);
    }
    await run.budget.breathe();
  }
  return mergeSteps(run, grid, result);
}
