import { answerKinds } from '../signals/node-signals.ts';
import type { Scene } from './blame.ts';
import { onsetOf } from './hypotheses.ts';
import type { Candidate } from './ranking.ts';

const leastOwn = 0.6;
const leastProof = 0.5;
const lateMs = 5 * 60_000;
const considered = 6;

/**
 * Returns a candidate that the first one does not explain and that does not explain it: neither
 * depends on the other, each has proof of its own, and the symptom depends on both.
 */
export function secondCause(candidates: readonly Candidate[], scene: Scene): Candidate | undefined {
  const [best, ...others] = candidates;
  if (best === undefined || !hasProof(best)) {
    return undefined;
  }
  const belowBest = dependenciesOf(best.id, scene);
  return others.slice(0, considered).find((other) => {
    const onset = onsetOf(other.facts);
    return (
      other.reach &&
      other.relevance >= leastOwn &&
      other.leaf >= leastOwn &&
      hasProof(other) &&
      (onset === undefined || onset <= scene.windows.onset + lateMs) &&
      !belowBest.has(other.id) &&
      !dependenciesOf(other.id, scene).has(best.id)
    );
  });
}

/** Something beyond its answers, which may be those of others: a resource, a check, a change, an end. */
const hasProof = ({ facts, bonus, down }: Candidate): boolean =>
  down ||
  bonus.checks > leastProof ||
  bonus.changes >= leastProof ||
  facts.signals.some(
    ({ relevance, deviation: { series } }) =>
      relevance >= leastProof && !answerKinds.includes(series.kind),
  );

function dependenciesOf(id: string, { graph }: Scene): ReadonlySet<string> {
  const found = new Set([id]);
  for (const one of found) {
    graph.needs(one).forEach((other) => found.add(other));
  }
  return found;
}
