import type { Labels } from 'svc/query';

import type { Grouping } from '../syntax/ast.ts';

/** The labels that a grouping leaves of a set; empty values are no labels. Without a grouping all stay. */
export function groupLabels(labels: Labels, grouping: Grouping | undefined): string[] {
  const flat: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    if (labels[i + 1] !== '' && (grouping === undefined || grouping.labels.includes(labels[i]!) !== grouping.without)) {
      flat.push(labels[i]!, labels[i + 1]!);
    }
  }
  return flat;
}
