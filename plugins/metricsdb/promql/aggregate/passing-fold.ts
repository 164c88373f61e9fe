import type { Labels } from 'svc/query';

import { eachRangeRow, rangeFunctions } from '../functions/range-call.ts';
import { type Aggregation, withoutParens } from '../parse/ast.ts';
import { RowBuilder, type VisitBuilt } from '../vector/rows.ts';
import { type Grid, pace, type Row, type Run } from '../vector/run.ts';
import { eachInstantRow } from '../vector/selection.ts';
import { type Fold, folds } from './fold.ts';
import { groupKeys } from './grouping.ts';

/** One group while rows pass by: folded at once, or its rows. */
interface PassingGroup {
  readonly labels: Labels;
  readonly fold: Fold | undefined;
  readonly rows: Row[];
  dropName: boolean;
}

/** Max groups with figures of their own for each step. Beyond, rows are kept: with many groups there are few in each. */
const maxFolds = 64;

/** Folds what a selector or a function of its ranges gives, series by series, without holding all rows; undefined where that is not possible. */
export async function foldPassing(
  run: Run,
  expr: Aggregation,
  grid: Grid,
): Promise<readonly Row[] | undefined> {
  const makeFold = folds[expr.op];
  const each = passing(run, expr, grid);
  if (makeFold === undefined || each === undefined) {
    return undefined;
  }
  const groups = new Map<string, PassingGroup>();
  const { keyOf, labelsFor } = groupKeys(expr);
  const startGroup = (labels: Labels): PassingGroup => {
    run.budget.bytes(grid.count * 32);
    const fold = groups.size < maxFolds ? makeFold(grid.count) : undefined;
    return { labels: labelsFor(labels), fold, rows: [], dropName: false };
  };
  await each((builder, labels, dropName) => {
    const key = keyOf(labels);
    let group = groups.get(key);
    if (group === undefined) {
      group = startGroup(labels);
      groups.set(key, group);
    }
    group.dropName ||= dropName;
    if (group.fold === undefined) {
      group.rows.push(builder.take(labels, dropName)!);
    } else {
      builder.lend((row) => group.fold!.addRow(row));
    }
  });
  return finished(run, grid, groups.values(), makeFold(grid.count));
}

/** Returns what visits each row of the aggregated expression, if its source has numbers alone. */
function passing(
  run: Run,
  { op, expr }: Aggregation,
  grid: Grid,
): ((visit: VisitBuilt) => Promise<void>) | undefined {
  const inner = withoutParens(expr);
  if (run.source.numbersOnly !== true) {
    return undefined;
  }
  if (inner.node === 'selector' && inner.edges === undefined) {
    const wanted = op === 'count' || op === 'group' ? 'presence' : 'value';
    return (visit) => eachInstantRow(run, inner, grid, wanted, visit);
  }
  return inner.node === 'call' &&
    rangeFunctions.has(inner.func) &&
    inner.func !== 'absent_over_time'
    ? (visit) => eachRangeRow(run, inner, grid, visit)
    : undefined;
}

async function finished(
  run: Run,
  grid: Grid,
  groups: Iterable<PassingGroup>,
  shared: Fold,
): Promise<readonly Row[]> {
  const paced = pace(run);
  const builder = new RowBuilder(run, grid);
  const result: Row[] = [];
  for (const { labels, fold: own, rows, dropName } of groups) {
    const fold = own ?? shared;
    if (own === undefined) {
      shared.clear();
    }
    for (const row of rows) {
      fold.addRow(row);
    }
    for (let step = 0; step < grid.count; step++) {
      if (fold.count[step]! > 0) {
        builder.put(step, fold.result(step));
      }
    }
    result.push(builder.take(labels, dropName)!);
    const pause = paced(grid.count * (rows.length + 1));
    if (pause !== undefined) {
      await pause;
    }
  }
  return result;
}
