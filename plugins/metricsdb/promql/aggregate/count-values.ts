import { histogramText } from 'svc/native-histogram';
import { type Labels, labelsKey, withLabel } from 'svc/query';

import type { Aggregation, StringLiteral } from '../parse/ast.ts';
import { isLabelName, plainFloat, quoted } from '../parse/go-text.ts';
import { executionError } from '../parse/position.ts';
import { RowBuilder } from '../vector/rows.ts';
import { type Grid, type Row, type Run } from '../vector/run.ts';
import { groupingOf } from './grouping.ts';

interface Counted {
  readonly labels: Labels;
  readonly steps: Map<number, number>;
}

/** Counts values: one series per value, which is in a label; its value is the count. */
export async function countValues(
  run: Run,
  expr: Aggregation,
  { value: label }: StringLiteral,
  rows: readonly Row[],
  grid: Grid,
): Promise<readonly Row[]> {
  if (!isLabelName(label)) {
    throw executionError(`invalid label name ${quoted(label)}`);
  }
  const project = groupingOf(
    expr.without ? expr : { without: false, grouping: [...expr.grouping, label] },
  );
  const counted = new Map<string, Counted>();
  for (const row of rows) {
    const known = new Map<string, Counted>();
    for (let i = 0; i < row.values.length; i++) {
      if (row.present === undefined || row.present[i] === 1) {
        const text = textOf(row, i);
        const entry =
          known.get(text) ?? entryFor(run, counted, project(withLabel(row.labels, label, text)));
        known.set(text, entry);
        entry.steps.set(row.from + i, (entry.steps.get(row.from + i) ?? 0) + 1);
      }
    }
    run.budget.bytes(row.values.length * 16);
    await run.budget.breathe();
  }
  const builder = new RowBuilder(run, grid);
  return [...counted.values()].map(({ labels, steps }) => {
    for (const [step, count] of steps) {
      builder.put(step, count);
    }
    return builder.take(labels, false)!;
  });
}

function textOf({ values, histograms }: Row, index: number): string {
  const histogram = histograms?.[index];
  return histogram === undefined ? plainFloat(values[index]!) : histogramText(histogram);
}

function entryFor(run: Run, counted: Map<string, Counted>, labels: Labels): Counted {
  const key = labelsKey(labels);
  const known = counted.get(key);
  if (known !== undefined) {
    return known;
  }
  run.budget.bytes(200);
  const entry = { labels, steps: new Map<number, number>() };
  counted.set(key, entry);
  return entry;
}
