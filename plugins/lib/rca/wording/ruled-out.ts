import type { Blame } from '../causes/blame.ts';
import { anomalous, type Scene } from '../causes/scene.ts';
import { onsetOf } from '../causes/hypotheses.ts';
import type { Candidate } from '../causes/ranking.ts';
import { type Deviation, gates } from '../signals/deviation.ts';
import type { RuledOut } from '../signals/findings.ts';
import type { NodeSignals } from '../signals/node-signals.ts';

const maxRuledOut = 12;

/**
 * Returns what was examined and is not the cause, with the reason: other candidates, dependencies
 * of the symptom that are well, and changes that hit nothing.
 */
export function ruledOutOf(
  scene: Scene,
  candidates: readonly Candidate[],
  blame: Blame,
): readonly RuledOut[] {
  const [best, ...others] = candidates;
  const outdone =
    best === undefined
      ? []
      : others.slice(0, maxRuledOut / 2).map((other) => outdoneBy(best, other, scene));
  return [
    ...outdone,
    ...wellOf(scene, blame, best).filter(({ node }) => !outdone.some((one) => one.node === node)),
    ...innocentChanges(scene, blame, best),
  ].slice(0, maxRuledOut);
}

/** Why the best candidate is the cause rather than this one. */
function outdoneBy(best: Candidate, other: Candidate, { windows }: Scene): RuledOut {
  const { id, facts, leaf, relevance, score } = other;
  const { name } = facts.node;
  const node = {
    node: id,
    node_name: name,
    evidence: facts.signals.slice(0, 1).map(({ deviation }) => deviation.series.evidence),
  };
  if (leaf < 0.4) {
    return { ...node, reason: 'downstream', text: `${name} is affected by its dependencies.` };
  }
  const onset = onsetOf(facts);
  const bestOnset = onsetOf(best.facts);
  if (
    onset !== undefined &&
    bestOnset !== undefined &&
    onset > windows.onset &&
    onset > bestOnset
  ) {
    return {
      ...node,
      reason: 'later',
      text: `${name} deviates, but only after the symptom did.`,
    };
  }
  return relevance < 2 * anomalous
    ? {
        ...node,
        reason: 'unrelated',
        text: `${name} deviates, but not in step with the symptom.`,
      }
    : {
        ...node,
        reason: 'weaker',
        text: `${name} is possible, but has less evidence (${score.toFixed(2)} against ${best.score.toFixed(2)}).`,
      };
}

/** Returns the measured dependencies of cause and symptom that are as usual. */
function wellOf(
  { snapshot: { symptom }, graph, facts }: Scene,
  { relevance }: Blame,
  best: Candidate | undefined,
): readonly RuledOut[] {
  const needed = new Set([
    ...(best ? [best.id, ...graph.needs(best.id)] : []),
    ...(symptom.node === undefined ? [] : graph.needs(symptom.node)),
  ]);
  return [...needed]
    .filter(
      (id) => id !== best?.id && facts.get(id)!.measured && (relevance.get(id) ?? 0) < anomalous,
    )
    .map((id) => {
      const { node, deviations } = facts.get(id)!;
      const moved = movedMost(facts.get(id)!);
      return moved === undefined
        ? {
            node: id,
            node_name: node.name,
            reason: 'normal',
            text: `All measurements of ${node.name} are within their usual range.`,
            evidence: [...new Set(deviations.map(({ series }) => series.evidence))].slice(0, 3),
          }
        : {
            node: id,
            node_name: node.name,
            reason: 'unrelated',
            text: `${moved.series.metric} of ${node.name} changed, but does not follow the symptom or is no harm.`,
            evidence: [moved.series.evidence],
          };
    });
}

/** Returns the series of a node that is furthest from what is usual; undefined where all are usual. */
const movedMost = ({ deviations }: NodeSignals): Deviation | undefined =>
  deviations
    .filter(({ peak }) => peak >= gates.strict)
    .reduce<Deviation | undefined>(
      (most, one) => (most === undefined || one.peak > most.peak ? one : most),
      undefined,
    );

/** Changes of the last hour on nodes where nothing moved. Ten starts of units on one host are one thing that was ruled out. */
function innocentChanges(
  { snapshot, windows, facts }: Scene,
  { relevance }: Blame,
  best: Candidate | undefined,
): readonly RuledOut[] {
  const recent = snapshot.changes.filter(
    ({ at, node }) =>
      node !== undefined &&
      node !== best?.id &&
      at <= windows.onset &&
      at > windows.onset - 3_600_000 &&
      facts.has(node) &&
      (relevance.get(node) ?? 0) < anomalous,
  );
  const oneOfKind = new Map(recent.map((change) => [`${change.node} ${change.kind}`, change]));
  return [...oneOfKind.values()].map(({ node, kind, evidence }) => {
    const { name } = facts.get(node!)!.node;
    const moved = movedMost(facts.get(node!)!);
    return {
      node: node!,
      node_name: name,
      reason: 'innocent_change',
      text:
        moved === undefined
          ? `The ${kind} on ${name} had no measurable effect there.`
          : `After the ${kind} on ${name}, ${moved.series.metric} changed there, but does not follow the symptom or is no harm.`,
      evidence: [evidence, ...(moved === undefined ? [] : [moved.series.evidence])],
    };
  });
}
