import type { NodeSignals } from '../signals/node-signals.ts';
import type { SliKind, Snapshot } from '../signals/snapshot.ts';
import type { Windows } from '../signals/windows.ts';
import type { Graph } from './graph.ts';

/** All that is looked at together. */
export interface Scene {
  readonly snapshot: Snapshot;
  readonly windows: Windows;
  readonly graph: Graph;
  readonly facts: ReadonlyMap<string, NodeSignals>;
}

/** Relevance from which on a node counts as anomalous. */
export const anomalous = 0.25;

/** Returns the largest relevance of a node's signals of these kinds. */
export const worstOf = ({ signals }: NodeSignals, kinds: readonly SliKind[]): number =>
  signals.reduce(
    (worst, { deviation, relevance }) =>
      kinds.includes(deviation.series.kind) ? Math.max(worst, relevance) : worst,
    0,
  );

export const standsOn = (graph: Graph, id: string, on: string): boolean =>
  graph.edge(id, on)?.relation === 'runs_on';
