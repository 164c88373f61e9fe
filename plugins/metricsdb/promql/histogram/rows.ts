import type { NativeHistogram } from 'svc/native-histogram';

import { nameless, RowBuilder } from '../vector/rows.ts';
import type { Grid, Row, Run } from '../vector/run.ts';

export const holdsHistograms = (rows: readonly Row[]): boolean =>
  rows.some(({ histograms }) => histograms !== undefined);

/** The numbers of rows; most have nothing else. */
export const numbersOf = (rows: readonly Row[]): readonly Row[] =>
  holdsHistograms(rows) ? rows.flatMap((row) => numbersIn(row) ?? []) : rows;

function numbersIn(row: Row): Row | undefined {
  const { histograms, ...numbers } = row;
  if (histograms === undefined) {
    return row;
  }
  const present = Uint8Array.from(row.values, (_, index) =>
    histograms[index] === undefined && (row.present === undefined || row.present[index] === 1)
      ? 1
      : 0,
  );
  return present.includes(1) ? { ...numbers, present } : undefined;
}

/** A number for each histogram; numbers themselves have none. */
export function mapHistograms(
  run: Run,
  grid: Grid,
  rows: readonly Row[],
  compute: (histogram: NativeHistogram, step: number, row: Row) => number | undefined,
): Row[] {
  const builder = new RowBuilder(run, grid);
  return rows.flatMap((row) => {
    row.histograms?.forEach((histogram, index) => {
      const value = histogram && compute(histogram, row.from + index, row);
      if (value !== undefined) {
        builder.put(row.from + index, value);
      }
    });
    return builder.take(nameless(run, row.labels), true) ?? [];
  });
}
