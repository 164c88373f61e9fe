import { labelsKey } from 'svc/query';

import type { Grouping, VectorOp } from '../syntax/ast.ts';
import { groupLabels } from './grouping.ts';
import { emptyRow, isEmpty, put, type Row, type Value } from './matrix.ts';

/** Rows summed up across label sets, at every step on its own. */
export function vectorAggregation(
  op: VectorOp,
  parameter: number | undefined,
  grouping: Grouping | undefined,
  rows: readonly Row[],
  steps: number,
): Value {
  if (op === 'sort' || op === 'sort_desc') {
    return { kind: 'rows', rows: sorted(rows, op === 'sort_desc'), ordered: true };
  }
  const groups = new Map<string, { labels: string[]; rows: Row[] }>();
  for (const row of rows) {
    const labels = groupLabels(row.labels, grouping ?? { without: false, labels: [] });
    const key = labelsKey(labels);
    const group = groups.get(key) ?? { labels, rows: [] };
    groups.set(key, group);
    group.rows.push(row);
  }
  if (op === 'topk' || op === 'approx_topk' || op === 'bottomk') {
    const highest = op !== 'bottomk';
    const kept = [...groups.values()].flatMap((group) =>
      ranked(group.rows, parameter!, highest, steps),
    );
    return { kind: 'rows', rows: sorted(kept, highest), ordered: true };
  }
  const fold = folds[op];
  return { kind: 'rows', rows: [...groups.values()].map((group) => folded(group, fold, steps)) };
}

/** Sorts by the value of the first step, which is the only one of an ordered answer. */
function sorted(rows: readonly Row[], descending: boolean): Row[] {
  const value = ({ present, values }: Row): number => (present[0] === 1 ? values[0]! : NaN);
  return rows.toSorted((a, b) => byValue(value(a), value(b), descending));
}

/** Compares values; NaN comes last, after both infinities. */
function byValue(a: number, b: number, descending: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) {
    return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  }
  return a === b ? 0 : a > b === descending ? -1 : 1;
}

type Fold = (values: Float64Array) => number;

const variance: Fold = (values) => {
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (const value of values) {
    count += 1;
    const away = value - mean;
    mean += away / count;
    squares += away * (value - mean);
  }
  return squares / count;
};
const total: Fold = (values) => values.reduce((sum, value) => sum + value, 0);
const best =
  (better: (a: number, b: number) => boolean): Fold =>
  (values) =>
    values.reduce((kept, value) => (better(value, kept) || Number.isNaN(kept) ? value : kept));

const folds = {
  sum: total,
  avg: (values) => total(values) / values.length,
  count: (values) => values.length,
  max: best((a, b) => a > b),
  min: best((a, b) => a < b),
  stdvar: variance,
  stddev: (values) => Math.sqrt(variance(values)),
} satisfies Partial<Record<VectorOp, Fold>>;

function folded(
  { labels, rows }: { labels: string[]; rows: readonly Row[] },
  fold: Fold,
  steps: number,
): Row {
  const row = emptyRow(Object.freeze(labels), steps);
  const values = new Float64Array(rows.length);
  for (let step = 0; step < steps; step++) {
    let count = 0;
    for (const { present, values: given } of rows) {
      if (present[step] === 1) {
        values[count++] = given[step]!;
      }
    }
    if (count > 0) {
      put(row, step, fold(values.subarray(0, count)));
    }
  }
  return row;
}

/** The k best rows of each step. */
function ranked(rows: readonly Row[], k: number, highest: boolean, steps: number): Row[] {
  const kept = rows.map((row) => emptyRow(row.labels, steps));
  const order = rows.map((_, index) => index);
  for (let step = 0; step < steps; step++) {
    const value = (index: number): number => rows[index]!.values[step]!;
    order
      .filter((index) => rows[index]!.present[step] === 1)
      .sort((a, b) => byValue(value(a), value(b), highest) || a - b)
      .slice(0, k)
      .forEach((index) => put(kept[index]!, step, rows[index]!.values[step]!));
  }
  return kept.filter((row) => !isEmpty(row));
}
