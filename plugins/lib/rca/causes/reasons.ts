import type { Indicator } from '../signals/findings.ts';
import { answerKinds, type NodeSignals, type Signal } from '../signals/node-signals.ts';
import type { SliKind } from '../signals/snapshot.ts';
import { anomalous, type Scene, worstOf } from './scene.ts';

/** Kinds of series that say why a node answers badly, not how. */
const reasons: readonly SliKind[] = ['saturation', 'events', 'cpu', 'memory', 'disk', 'network'];
const leastReason = 0.5;
const leastLeaf = 0.5;

/** Returns how far something within a node that answers badly is a reason for it: of two that answer equally badly it is the one. */
export const reasonOf = (facts: NodeSignals): number =>
  worstOf(facts, answerKinds) >= anomalous ? worstOf(facts, reasons) : 0;

/** Returns what is wrong within a node that is told by its answers, and answers for itself. */
export const withinOf = (
  { facts, leaf }: { readonly facts: NodeSignals; readonly leaf: number },
  indicator: Indicator | null,
  { snapshot: { symptom } }: Scene,
): Signal | undefined =>
  indicator !== null && answerKinds.some((kind) => kind === indicator.kind) && leaf >= leastLeaf
    ? facts.signals.find(
        ({ relevance, deviation: { series } }) =>
          relevance >= leastReason &&
          reasons.includes(series.kind) &&
          series.metric !== symptom.metric,
      )
    : undefined;
