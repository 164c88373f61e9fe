import type { VectorSelector } from './ast.ts';
import { smoothedAt } from './edges.ts';
import { dataTime, place } from './placement.ts';
import { RowBuilder } from './rows.ts';
import type { Grid, Row, Run } from './run.ts';
import { eachSelected, withoutStale } from './selection.ts';

/** An instant vector whose values lie on the lines between samples. */
export async function smoothedRows(run: Run, selector: VectorSelector, grid: Grid): Promise<readonly Row[]> {
  const placed = place(run, selector);
  const mint = dataTime(placed, grid, 0) - run.lookbackMs;
  const maxt = dataTime(placed, grid, grid.count - 1) + run.lookbackMs;
  const builder = new RowBuilder(run, grid);
  const rows: Row[] = [];
  await eachSelected(run, selector, mint, maxt, { step: grid.step }, (series) => {
    const { times, values, length } = withoutStale(series);
    let from = 0;
    let to = 0;
    for (let step = 0; step < grid.count; step++) {
      const time = dataTime(placed, grid, step);
      while (to < length && times[to]! <= time + run.lookbackMs) {
        to++;
      }
      while (from < to && times[from]! <= time - run.lookbackMs) {
        from++;
      }
      const value = smoothedAt(times, values, from, to, time);
      if (value !== undefined) {
        builder.put(step, value);
      }
    }
    const row = builder.take(series.labels, false);
    if (row !== undefined) {
      rows.push(row);
    }
  });
  return rows;
}
