import type { Step } from '../signals/findings.ts';
import type { Blame } from './blame.ts';
import { anomalous, type Scene } from './scene.ts';
import { onsetOf } from './hypotheses.ts';
import type { Candidate } from './ranking.ts';

/**
 * Returns the path from the cause to the symptom, and for each edge whether it exists, whether both
 * ends deviate, and which came first.
 */
export function propagation({ id, way }: Candidate, scene: Scene, blame: Blame): Step[] {
  const { node: symptom } = scene.snapshot.symptom;
  if (symptom === undefined || symptom === id) {
    return [];
  }
  const nodes =
    way.length > 1
      ? way
      : (scene.graph.reached(symptom, (one) => 0.01 + (blame.relevance.get(one) ?? 0)).get(id) ?? [
          id,
          symptom,
        ]);
  return nodes.slice(1).map((to, at) => stepOf(nodes[at]!, to, scene, blame));
}

function stepOf(
  from: string,
  to: string,
  { graph, facts, snapshot }: Scene,
  { relevance }: Blame,
): Step {
  // Edges of the graph lead from the dependent; trouble travels the other way.
  const edge = graph.edge(to, from);
  const cause = facts.get(from)!;
  const effect = facts.get(to)!;
  const causeOnset = onsetOf(cause);
  const effectOnset = onsetOf(effect);
  const step = Math.max(
    0,
    ...snapshot.series
      .filter(({ node }) => node === from || node === to)
      .map(({ step_ms: ms }) => ms),
  );
  return {
    from,
    to,
    relation: edge?.relation ?? 'unknown',
    origin: edge?.origin ?? 'none',
    checks: {
      edge: edge !== undefined,
      deviates: relevance.get(from)! >= anomalous && relevance.get(to)! >= anomalous,
      order:
        causeOnset === undefined || effectOnset === undefined
          ? causeOnset === effectOnset || cause.complaints.length > 0
          : causeOnset <= effectOnset + step,
    },
  };
}

/** Share of the way that checks out; a cause in the symptom's own node has no way to go. */
export function pathShare(steps: readonly Step[]): number {
  return steps.length === 0
    ? 1
    : steps.filter(({ checks }) => checks.edge && checks.deviates && checks.order).length /
        steps.length;
}
