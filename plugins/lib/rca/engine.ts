import type { Scene } from './causes/scene.ts';
import type { Calibration } from './causes/calibration.ts';
import { folded, relatedChanges } from './causes/changes.ts';
import { calmConfidence, confidenceOf } from './causes/confidence.ts';
import { Graph, scopeOf } from './causes/graph.ts';
import { hypothesisOf } from './causes/hypotheses.ts';
import { propagation } from './causes/path.ts';
import { rank } from './causes/ranking.ts';
import { secondCause } from './causes/second-cause.ts';
import { type Judgement, judge } from './causes/verdict.ts';
import type { Confidence, Findings, Hypothesis, RootCause } from './signals/findings.ts';
import { signalsOf } from './signals/node-signals.ts';
import type { Snapshot } from './signals/snapshot.ts';
import { symptomSeries, windowsOf } from './signals/windows.ts';
import { claimsOf } from './wording/figures.ts';
import { notSeenOf } from './wording/not-seen.ts';
import { ruledOutOf } from './wording/ruled-out.ts';
import { timelineOf } from './wording/timeline.ts';

/** Version of the engine, stated in reports; raise it with any change of its answers. */
export const engineVersion = '1.9.0';

export interface EngineOptions {
  /** Max number of hypotheses in the report. */
  readonly hypotheses?: number;
  /** Max number of nodes examined; whole rings around the symptom, nearest first. */
  readonly nodes?: number;
  /** Calibration from people's feedback; without it confidence is reported as uncalibrated. */
  readonly calibration?: Calibration;
}

/**
 * Returns what a snapshot says about the cause, with no clock, no chance and nothing fetched. The
 * only entry point.
 */
export function investigate(
  snapshot: Snapshot,
  { hypotheses: most = 10, nodes: maxNodes = 400, calibration }: EngineOptions = {},
): Findings {
  const symptom = symptomSeries(snapshot);
  const windows = windowsOf(snapshot, symptom);
  const nodes = scopeOf(snapshot.nodes, snapshot.edges, snapshot.symptom.node, maxNodes);
  const scene: Scene = {
    snapshot,
    windows,
    graph: new Graph(nodes, snapshot.edges),
    facts: signalsOf(snapshot, nodes, windows, symptom),
  };
  const { candidates, blame } = rank(scene);
  const second = secondCause(candidates, scene);
  const steps = candidates[0] ? propagation(candidates[0], scene, blame) : [];
  const found = confidenceOf(scene, candidates, steps, calibration);
  const judgement = judge(scene, candidates, symptom, found);
  const hypotheses = told(
    judgement,
    candidates.slice(0, most).map((candidate, at) => hypothesisOf(candidate, at + 1, scene)),
    scene,
  );
  const [best] = hypotheses;
  const blames =
    judgement.because === 'found' ||
    judgement.because === 'unseen' ||
    judgement.because === 'silent';
  const changes =
    best && blames
      ? folded(relatedChanges(snapshot.changes, best.node, windows.onset, scene.graph))
      : [];
  // A calm symptom beside something that moves with it is not the same as quiet everywhere.
  const quiet = 1 - Math.min(1, candidates[0]?.relevance ?? 0);
  const confidence =
    judgement.because === 'calm' || judgement.because === 'load'
      ? calmConfidence(scene, judgement.because === 'calm' ? quiet : 1, calibration)
      : found;
  return {
    engine_version: engineVersion,
    verdict: judgement.verdict,
    summary: summaryOf(
      judgement,
      best,
      second && hypothesisOf(second, 2, scene),
      scene,
      confidence,
    ),
    onset_at: windows.onset,
    ...(snapshot.symptom.resolved_at === undefined
      ? {}
      : { recovered_at: snapshot.symptom.resolved_at }),
    root_cause: rootCauseOf(judgement, best, scene),
    confidence,
    hypotheses,
    propagation: judgement.because === 'found' ? steps : [],
    timeline: timelineOf(scene, blames ? candidates : [], changes, symptom),
    claims: claimsOf(scene, blames ? hypotheses : [], symptom),
    ruled_out: ruledOutOf(scene, candidates, blame),
    not_seen: notSeenOf(scene),
    changes,
  };
}

/** Puts what is silent or merely loaded first, labelled as such. */
function told(
  { because, node, ratio }: Judgement,
  ranked: readonly Hypothesis[],
  { facts }: Scene,
): readonly Hypothesis[] {
  if ((because !== 'silent' && because !== 'load') || node === undefined) {
    return ranked;
  }
  const { node: own, silent_since: silent, deviations, complaints } = facts.get(node)!;
  const series =
    deviations.find(({ series: { kind } }) => kind === 'rate')?.series ?? deviations[0]?.series;
  const evidence = series?.evidence ?? complaints[0]?.evidence ?? '';
  const text =
    because === 'silent'
      ? `${own.name} sends no data, and nothing says that it is unwell`
      : `${own.name} has ${ratio!.toFixed(1)} times its usual work`;
  const first: Hypothesis = {
    rank: 1,
    node,
    node_name: own.name,
    category: because === 'silent' ? 'data_quality' : 'healthy',
    indicator: series
      ? { evidence, kind: series.kind, name: series.metric, series: series.id }
      : null,
    score: (ranked[0]?.score ?? 0) + 1,
    ...(silent === undefined ? {} : { onset_at: silent }),
    deviation: 0,
    correlation: 0,
    reaches_symptom: true,
    deepest: true,
    support: evidence === '' ? [] : [{ kind: series ? 'metric' : 'check', evidence, text }],
    text,
  };
  return [first, ...ranked.filter((other) => other.node !== node)].map((one, at) => ({
    ...one,
    rank: at + 1,
  }));
}

function rootCauseOf(
  { because }: Judgement,
  best: Hypothesis | undefined,
  scene: Scene,
): RootCause | null {
  if (best === undefined || (because !== 'found' && because !== 'silent')) {
    return null;
  }
  const { node, node_name, category, indicator, text } = best;
  return { node, node_name, category, indicator, since: sinceOf(best, scene), text };
}

/**
 * Returns the first sign of a fault: in its node, by a check, or by its effects. What is measured
 * rarely is noticed late.
 */
function sinceOf({ node, onset_at: onset }: Hypothesis, { facts, windows }: Scene): number {
  const complaints = facts
    .get(node)!
    .complaints.flatMap(({ since }) =>
      since !== undefined && since >= windows.look.from ? [since] : [],
    );
  return Math.min(windows.onset, ...(onset === undefined ? [] : [onset]), ...complaints);
}

const unnamed = {
  alone: 'Nothing else that is measured deviates with it, so it has no explanation yet.',
  thin: 'Too little could be seen to name a cause.',
};

/** Returns whether a summary names nothing to act on, and so has no place in a message about the incident. */
export const namesNothing = (summary: string): boolean =>
  Object.values(unnamed).some((words) => summary.endsWith(words));

function summaryOf(
  { verdict, because, node, ratio }: Judgement,
  best: Hypothesis | undefined,
  second: Hypothesis | undefined,
  { facts, snapshot }: Scene,
  { level }: Confidence,
): string {
  const name = node === undefined ? '' : facts.get(node)!.node.name;
  const { metric } = snapshot.symptom;
  switch (because) {
    case 'silent':
      return `The problem is in the measurement, not in the service: ${name} sends no data.`;
    case 'calm':
      return verdict === 'recovered'
        ? `${metric} was abnormal and is back in its usual range.`
        : `No anomaly found: ${metric} is within its usual range.`;
    case 'load':
      return `Higher load than usual: ${name} has ${ratio!.toFixed(1)} times its usual rate; nothing is broken.`;
    case 'alone':
      return `${metric} deviates. ${unnamed.alone}`;
    case 'thin':
      return unnamed.thin;
    case 'unseen':
      return `The trail leads to ${name}, for which no data was available.`;
    case 'found':
      return `${verdict === 'root_cause' ? 'Cause' : 'Suspected'}: ${best!.text}. Confidence ${level}.${second === undefined ? '' : ` There may be another, independent cause: ${second.text}.`}`;
  }
}
