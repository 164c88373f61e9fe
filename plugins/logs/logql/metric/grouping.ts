import type { Labels } from 'svc/query';

import type { Grouping } from '../syntax/ast.ts';

/** The labels that a grouping leaves of a set; all of them where there is none. A parsed label may be empty: only `without` takes it for absent. */
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
