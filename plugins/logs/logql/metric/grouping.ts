import type { Labels } from 'svc/query';

import type { Grouping } from '../syntax/ast.ts';

/**
 * Returns the labels that a grouping keeps of a set; all of them without a grouping. A parsed label
 * may be empty: only `without` treats it as absent.
 */
export function groupLabels(labels: Labels, grouping: Grouping | undefined): string[] {
  const flat: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    const name = labels[i]!;
    const value = labels[i + 1]!;
    if (
      grouping === undefined ||
      (grouping.without
        ? value !== '' && !grouping.labels.includes(name)
        : grouping.labels.includes(name))
    ) {
      flat.push(name, value);
    }
  }
  return flat;
}
