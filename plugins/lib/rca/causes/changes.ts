import type { RelatedChange } from '../signals/findings.ts';
import type { Change, ChangeKind } from '../signals/snapshot.ts';
import type { Graph } from './graph.ts';

const fadeMs = 30 * 60_000;
const slackMs = 60_000;

/** Usual impact of a change by kind, where it is made. */
const weights: Readonly<Record<ChangeKind, number>> = {
  deploy: 1,
  config: 1,
  certificate: 1,
  edge_upgrade: 0.8,
  package: 0.8,
  reboot: 0.8,
  restart: 0.7,
  cron: 0.8,
  rule: 0.3,
  other: 0.5,
};

/**
 * Returns how likely a change is related to a node: near in time, and made there or next to it.
 * Nothing after the onset counts.
 */
export function changeScore(change: Change, node: string, onset: number, graph: Graph): number {
  const before = onset - change.at;
  if (before < -slackMs) {
    return 0;
  }
  const near =
    change.node === undefined
      ? 0.15
      : change.node === node
        ? 1
        : graph.edge(node, change.node)
          ? 0.35
          : 0;
  return near * weights[change.kind] * Math.exp(-Math.max(0, before) / fadeMs);
}

/** Changes that could have to do with the cause, likeliest first. */
export function relatedChanges(
  changes: readonly Change[],
  node: string,
  onset: number,
  graph: Graph,
): RelatedChange[] {
  return changes
    .map(({ actor: _, ...change }) => ({
      ...change,
      score: changeScore({ ...change }, node, onset, graph),
      before_ms: onset - change.at,
    }))
    .filter(({ score }) => score > 0.01)
    .sort((a, b) => b.score - a.score || a.before_ms - b.before_ms);
}

/**
 * Merges changes that differ in numbers alone, such as one for each of many hosts, into the
 * likeliest of them.
 */
export function folded(changes: readonly RelatedChange[]): RelatedChange[] {
  const alike = new Map<string, RelatedChange[]>();
  for (const change of changes) {
    const key = [change.kind, change.node, change.title.replaceAll(/\d+/g, '#')].join(' ');
    alike.set(key, alike.get(key) ?? []);
    alike.get(key)!.push(change);
  }
  return [...alike.values()].map(([first, ...others]) =>
    others.length === 0
      ? first!
      : { ...first!, title: `${first!.title}, and ${others.length} more like it` },
  );
}
