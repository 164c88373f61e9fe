import type { Matching } from '../parse/ast.ts';
import { matchRows } from '../vector/matching.ts';
import { mergeSteps, RowBuilder } from '../vector/rows.ts';
import type { Grid, Row, Run } from '../vector/run.ts';

/** `and`, `or` and `unless`: which samples stay hangs on whether the other side has a matching one at that step. */
export async function combineSets(
  run: Run,
  grid: Grid,
  op: string,
  matching: Matching,
  left: readonly Row[],
  right: readonly Row[],
): Promise<readonly Row[]> {
  const other = op === 'or' ? 'left' : 'right';
  const filtered = new Map<Row, Row | undefined>();
  const builder = new RowBuilder(run, grid);
  for (const group of await matchRows(run, matching, left, right)) {
    const present = presence(run, grid, group[other]);
    for (const row of group[op === 'or' ? 'right' : 'left']) {
      filtered.set(row, filter(builder, row, present, op === 'and'));
    }
    await run.budget.breathe();
  }
  const kept = (rows: readonly Row[]): Row[] => rows.flatMap((row) => filtered.get(row) ?? []);
  return mergeSteps(run, grid, op === 'or' ? [...left, ...kept(right)] : kept(left));
}

/** Steps where at least one of the rows has a value; undefined for none. */
function presence(run: Run, grid: Grid, rows: readonly Row[]): Uint8Array | undefined {
  if (rows.length === 0) {
    return undefined;
  }
  run.budget.bytes(grid.count);
  const present = new Uint8Array(grid.count);
  for (const row of rows) {
    for (let i = 0; i < row.values.length; i++) {
      if (row.present === undefined || row.present[i] === 1) {
        present[row.from + i] = 1;
      }
    }
  }
  return present;
}

function filter(
  builder: RowBuilder,
  row: Row,
  present: Uint8Array | undefined,
  wanted: boolean,
): Row | undefined {
  if (present === undefined) {
    return wanted ? undefined : row;
  }
  for (let i = 0; i < row.values.length; i++) {
    if (
      (row.present === undefined || row.present[i] === 1) &&
      (present[row.from + i] === 1) === wanted
    ) {
      builder.copy(row.from + i, row, i);
    }
  }
  return builder.take(row.labels, row.dropName);
}
