import { keepLabels, type Labels, labelsKey, withoutLabels } from 'svc/telemetry';

import type { Aggregation } from './ast.ts';
import type { Row } from './rows.ts';

export interface Group {
  readonly labels: Labels;
  readonly rows: Row[];
}

/** What a series is grouped by: the labels that stay. */
export function groupingOf({ grouping, without }: Pick<Aggregation, 'grouping' | 'without'>): (labels: Labels) => Labels {
  const names = new Set(without ? [...grouping, '__name__'] : grouping);
  return without ? (labels) => withoutLabels(labels, names) : (labels) => keepLabels(labels, names);
}

export function groupRows(rows: readonly Row[], expr: Aggregation): readonly Group[] {
  const groups = new Map<string, Group>();
  const project = groupingOf(expr);
  for (const row of rows) {
    const labels = project(row.labels);
    const key = labelsKey(labels);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { labels, rows: [row] });
    } else {
      group.rows.push(row);
    }
  }
  return [...groups.values()];
}
