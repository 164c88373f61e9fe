import { eachOf, keepLabels, type Labels, labelsKey, withLabel, withoutLabels } from 'svc/query';

import type { Matching } from '../parse/ast.ts';
import type { Row, Run } from './run.ts';

/** The rows of both sides whose labels match each other. */
export interface MatchGroup {
  readonly left: Row[];
  readonly right: Row[];
}

/** The labels that decide what matches what. */
export function signature({ on, labels }: Matching): (labels: Labels) => Labels {
  const names = new Set(on ? labels : [...labels, '__name__']);
  return on ? (set) => keepLabels(set, names) : (set) => withoutLabels(set, names);
}

export async function matchRows(
  { budget }: Run,
  matching: Matching,
  left: readonly Row[],
  right: readonly Row[],
): Promise<readonly MatchGroup[]> {
  const project = signature(matching);
  const groups = new Map<string, MatchGroup>();
  for (const [side, rows] of [
    ['left', left],
    ['right', right],
  ] as const) {
    await eachOf(rows, budget, (row) => {
      const key = labelsKey(project(row.labels));
      const group = groups.get(key) ?? { left: [], right: [] };
      group[side].push(row);
      groups.set(key, group);
    });
  }
  return [...groups.values()];
}

const metadata = ['__name__', '__type__', '__unit__'];

/**
 * Returns the labels of a result: those of the "many" side, without what the operation drops and
 * with what it includes from the other.
 */
export function resultLabels(
  matching: Matching,
  many: Labels,
  one: Labels,
  dropName: boolean,
): Labels {
  let labels = dropName ? withoutLabels(many, new Set(metadata)) : many;
  if (matching.card === 'one-to-one') {
    const names = new Set(matching.labels);
    labels = matching.on ? keepLabels(labels, names) : withoutLabels(labels, names);
  }
  for (const name of matching.include) {
    let value = '';
    for (let i = 0; i < one.length; i += 2) {
      if (one[i] === name) {
        value = one[i + 1]!;
      }
    }
    labels = withLabel(labels, name, value);
  }
  return labels;
}

/** Labels as errors show them. */
export function shownLabels(labels: Labels, quote: (text: string) => string): string {
  const pairs: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    const name = labels[i]!;
    pairs.push(`${/^[a-zA-Z_]\w*$/.test(name) ? name : quote(name)}=${quote(labels[i + 1]!)}`);
  }
  return `{${pairs.join(', ')}}`;
}
