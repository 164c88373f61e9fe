import type { NativeHistogram } from 'svc/native-histogram';
import { labelValue } from 'svc/query';

import { foldHistograms } from '../histogram/fold.ts';
import type { NativeNotes } from '../histogram/notes.ts';
import { indexAt, RowBuilder } from '../vector/rows.ts';
import { type Grid, pace, type Row, type Run } from '../vector/run.ts';
import { folds } from './fold.ts';
import type { Group } from './grouping.ts';

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
