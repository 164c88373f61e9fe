import { HistogramSum, meanOf, type NativeHistogram, type ResetHint } from 'svc/native-histogram';
import { labelValue } from 'svc/query';

import { folds } from './fold.ts';
import type { Group } from './grouping.ts';
import type { NativeNotes } from './native-notes.ts';
import { indexAt, RowBuilder } from './rows.ts';
import { type Grid, pace, type Row, type Run } from './run.ts';

/** Sum or mean of a group that holds histograms. At each step there are either those or numbers; both have no sum. */
export async function foldMixed(
  run: Run,
  grid: Grid,
  { labels, rows }: Group,
  op: 'sum' | 'avg',
  notes: NativeNotes,
): Promise<Row | undefined> {
  const builder = new RowBuilder(run, grid);
  const paced = pace(run);
  const name = labelValue(rows[0]!.labels, '__name__');
  const numbers = folds[op]!(1);
  for (let step = 0; step < grid.count; step++) {
    const histograms: NativeHistogram[] = [];
    numbers.clear();
    for (const row of rows) {
      const index = indexAt(row, step);
      const histogram = row.histograms?.[index];
      if (histogram !== undefined) {
        histograms.push(histogram);
      } else if (index !== -1) {
        numbers.add(0, row.values[index]!);
      }
    }
    if (histograms.length > 0 && numbers.count[0]! > 0) {
      notes.mixedAggregation();
    } else if (histograms.length > 0) {
      const folded = foldHistograms(histograms, op === 'avg', name, notes);
      if (folded !== undefined) {
        builder.putSample(step, folded);
      }
    } else if (numbers.count[0]! > 0) {
      builder.put(step, numbers.result(0));
    }
    await paced(rows.length * 16);
  }
  return builder.take(
    labels,
    rows.some(({ dropName }) => dropName),
  );
}

/** Sum or mean of histograms; undefined where their buckets do not go together. */
export function foldHistograms(
  histograms: readonly NativeHistogram[],
  mean: boolean,
  name: string,
  notes: NativeNotes,
): NativeHistogram | undefined {
  const found = mean ? meanOf(histograms) : sumOf(histograms);
  if (found === undefined) {
    notes.mixedSchemas(name);
    return undefined;
  }
  const seen = (hint: ResetHint): boolean => histograms.some((one) => one.hint === hint);
  if (seen('reset') && seen('not_reset')) {
    notes.collided('aggregation');
  }
  if (found.reconciled) {
    notes.reconciled('aggregation');
  }
  return found.value;
}

function sumOf([first, ...rest]: readonly NativeHistogram[]):
  | { readonly value: NativeHistogram; readonly reconciled: boolean }
  | undefined {
  const sum = new HistogramSum(first!);
  return rest.every((one) => sum.add(one))
    ? { value: sum.value(), reconciled: sum.reconciled }
    : undefined;
}
