import { answerKinds as answers } from '../signals/node-signals.ts';
import { mean } from '../signals/statistics.ts';
import { isHitItself } from './passed-on.ts';
import { type Scene, worstOf } from './scene.ts';

const inCommon = 0.9;
/** Weight of what a single dependent points to: it may as well be the dependent itself. */
const byOne = 0.62;
const nearlyBest = 0.9;

/**
 * Suspects what nobody measures by those that depend on it: most of them are hit by themselves, and they are most of what is hit. Of
 * several such things those that account best for who is hit and who is not count in full.
 */
export function suspectInCommon(
  scene: Scene,
  relevance: Map<string, number>,
  down: ReadonlySet<string>,
  shared: Set<string>,
): ReadonlySet<string> {
  const { graph, facts } = scene;
  const guessed = new Set<string>();
  const hit = new Set(
    [...facts.keys()].filter(
      (id) => !down.has(id) && isHitItself(id, '', scene, down) && graph.needs(id).length > 0,
    ),
  );
  const fits = [...facts].flatMap(([id, { measured, own }]) => {
    const needing = graph.neededBy(id).filter((other) => facts.get(other)!.measured);
    const struck = needing.filter((other) => hit.has(other));
    const fit = (2 * struck.length) / Math.max(1, needing.length + hit.size);
    return measured || own !== undefined || struck.length === 0 ? [] : [{ id, fit, struck }];
  });
  const best = Math.max(0, ...fits.map(({ fit }) => fit));
  for (const { id, fit, struck } of fits) {
    const share = (fit / best) ** 2;
    const badness = mean(struck.map((other) => worstOf(facts.get(other)!, answers)));
    const lent = inCommon * badness * (0.5 + 0.5 * fit) * share * (struck.length === 1 ? byOne : 1);
    if (shared.has(id) && fit < nearlyBest * best) {
      shared.delete(id);
      relevance.set(id, lent);
    }
    if (struck.length === 1 && lent > relevance.get(id)!) {
      guessed.add(id);
    }
    relevance.set(id, Math.max(relevance.get(id)!, lent));
  }
  return guessed;
}
