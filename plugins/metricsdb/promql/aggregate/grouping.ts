import { eachOf, keepLabels, type Labels, labelsKey, labelValue, withoutLabels } from 'svc/query';

import type { Aggregation } from '../parse/ast.ts';
import type { Row, Run } from '../vector/run.ts';

export interface Group {
  readonly labels: Labels;
  readonly rows: Row[];
}

/** Returns how series are grouped: by the labels that remain. */
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
  const { keyOf, labelsFor } = groupKeys(expr);
  await eachOf(rows, budget, (row) => {
    const key = keyOf(row.labels);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { labels: labelsFor(row.labels), rows: [row] });
    } else {
      group.rows.push(row);
    }
  });
  return [...groups.values()];
}

/** Keys that tell groups apart, and the labels of the group that a series belongs to. */
export interface GroupKeys {
  keyOf(labels: Labels): string;
  labelsFor(labels: Labels): Labels;
}

export function groupKeys(expr: Aggregation): GroupKeys {
  const labelsFor = groupingOf(expr);
  return { keyOf: keyFor(expr, labelsFor), labelsFor };
}

/**
 * Returns the key function of a grouping. The common cases, one label or none, need no label set
 * per series.
 */
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
