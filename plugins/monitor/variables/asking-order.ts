import type { Variable } from '../model/dashboard.ts';
import { namesIn } from './insertion.ts';

/**
 * Returns the variables so that each comes after those that its query refers to, wherever a
 * dashboard lists them. In a circle, the one listed first comes first.
 */
export function inAskingOrder(variables: readonly Variable[]): readonly Variable[] {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const ordered = new Set<Variable>();
  const visited = new Set<Variable>();
  const visit = (variable: Variable): void => {
    if (visited.has(variable)) {
      return;
    }
    visited.add(variable);
    for (const name of namesIn(variable.query ?? '')) {
      const other = byName.get(name);
      if (other !== undefined) {
        visit(other);
      }
    }
    ordered.add(variable);
  };
  variables.forEach(visit);
  return [...ordered];
}
