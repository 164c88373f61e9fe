import { compileRegex, labelsKey, labelValue, noLabels, queryError, withLabel } from 'svc/query';

import type { Grouping, MetricExpr, RangeExpr, ReplaceExpr, VectorExpr } from '../syntax/ast.ts';
import { binaryOperation } from './binary-operation.ts';
import { emptyRow, put, type Row, type Value } from './matrix.ts';
import { type Evaluation, rangeAggregation } from './range-aggregation.ts';
import { vectorAggregation } from './vector-aggregation.ts';

/** Evaluates a metric expression at every step. */
export async function evaluate(expr: MetricExpr, evaluation: Evaluation): Promise<Value> {
  const steps = evaluation.times.length;
  const part: Evaluation = { ...evaluation, maxSeries: undefined };
  switch (expr.kind) {
    case 'number':
      return { kind: 'number', value: expr.value };
    case 'vector':
      return { kind: 'rows', rows: [constant(expr.value, steps)] };
    case 'range':
      return { kind: 'rows', rows: await rangeAggregation(expr, evaluation) };
    case 'aggregation':
      return aggregate(expr, evaluation);
    case 'label_replace':
      return {
        kind: 'rows',
        rows: labelReplace(expr, rowsOf(await evaluate(expr.inner, part), steps)),
      };
    case 'binary': {
      const left = await evaluate(expr.left, part);
      const right = await evaluate(expr.right, part);
      await evaluation.budget.breathe();
      return binaryOperation(expr, left, right, steps);
    }
  }
}

/** A plain number counts as a series without labels where series are wanted. */
function rowsOf(value: Value, steps: number): readonly Row[] {
  return value.kind === 'rows' ? value.rows : [constant(value.value, steps)];
}

function constant(value: number, steps: number): Row {
  const row = emptyRow(noLabels, steps);
  for (let step = 0; step < steps; step++) {
    put(row, step, value);
  }
  return row;
}

async function aggregate(expr: VectorExpr, evaluation: Evaluation): Promise<Value> {
  const { op, parameter, inner } = expr;
  if (op === 'approx_topk' && evaluation.times.length > 1) {
    throw queryError('execution', 'count min sketches are only supported on instant queries');
  }
  const grouping: Grouping = expr.grouping ?? { without: false, labels: [] };
  if (inner.kind === 'range' && canJoin(expr, inner)) {
    return { kind: 'rows', rows: await rangeAggregation(inner, evaluation, grouping) };
  }
  const value = await evaluate(inner, { ...evaluation, maxSeries: undefined });
  await evaluation.budget.breathe();
  return vectorAggregation(
    op,
    parameter,
    grouping,
    rowsOf(value, evaluation.times.length),
    evaluation.times.length,
  );
}

const summing: readonly string[] = [
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
];

/** A sum of sums, a maximum of maxima: one series per group will do, and nobody holds the single ones. */
function canJoin({ op }: VectorExpr, { op: inner, grouping }: RangeExpr): boolean {
  return (
    grouping === undefined &&
    ((op === 'sum' && summing.includes(inner)) ||
      (op === 'max' && inner === 'max_over_time') ||
      (op === 'min' && inner === 'min_over_time'))
  );
}

/** Writes one label from the parts of another, where that matches. */
function labelReplace(
  { target, replacement, source, regex }: ReplaceExpr,
  rows: readonly Row[],
): Row[] {
  const pattern = compileRegex(regex, { anchored: true });
  const seen = new Set<string>();
  return rows.map((row) => {
    const groups = pattern.exec(labelValue(row.labels, source));
    const labels =
      groups === undefined
        ? row.labels
        : withLabel(row.labels, target, pattern.expand(groups, replacement));
    const key = labelsKey(labels);
    if (seen.has(key)) {
      throw queryError('execution', 'vector cannot contain metrics with the same labelset');
    }
    seen.add(key);
    return { ...row, labels };
  });
}
