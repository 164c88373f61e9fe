import { eachOf, keepLabels, type Labels, labelsKey, labelValue, withoutLabels } from 'svc/query';

import type { Aggregation } from '../parse/ast.ts';
import type { Row, Run } from '../vector/run.ts';

export interface Group {
  readonly labels: Labels;
  readonly rows: Row[];
}

/** What a series is grouped by: the labels that stay. */
export function groupingOf({
  grouping,
  without,
}: Pick<Aggregation, 'grouping' | 'without'>): (labels: Labels) => Labels {
  const names = new Set(without ? [...grouping, '__name__'] : grouping);
  return without ? (labels) => withoutLabels(labels, names) : (labels) => keepLabels(labels, names);
}

export async function groupRows(
  { budget }: Run,
  rows: readonly Row[],
  expr: Aggregation,
): Promise<readonly Group[]> {
  const groups = new Map<string, Group>();
  const project = groupingOf(expr);
  const keyOf = keyFor(expr, project);
  await eachOf(rows, budget, (row) => {
    const key = keyOf(row.labels);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { labels: project(row.labels), rows: [row] });
    } else {
      group.rows.push(row);
    }
  });
  return [...groups.values()];
}

/** By one label, as most are, its value tells groups apart, and by none there is one: no labels need to be put together for each series. */
function keyFor(
  { grouping, without }: Aggregation,
  project: (labels: Labels) => Labels,
): (labels: Labels) => string {
  const [name, ...others] = grouping;
  if (without || others.length > 0) {
    return (labels) => labelsKey(project(labels));
  }
  return name === undefined ? () => '' : (labels) => labelValue(labels, name);
}
