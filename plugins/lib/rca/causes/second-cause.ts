import type { Scene } from './scene.ts';
import { onsetOf } from './hypotheses.ts';
import { type Candidate, hasProof } from './ranking.ts';

const leastOwn = 0.6;
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

function dependenciesOf(id: string, { graph }: Scene): ReadonlySet<string> {
  const found = new Set([id]);
  for (const one of found) {
    graph.needs(one).forEach((other) => found.add(other));
  }
  return found;
}
