import type { Confidence, Step } from '../signals/findings.ts';
import { answerKinds, clamp } from '../signals/node-signals.ts';
import type { EvidenceKind, Missing, Snapshot } from '../signals/snapshot.ts';
import { anomalous, type Scene } from './scene.ts';
import { type Calibration, calibrated } from './calibration.ts';
import { pathShare } from './path.ts';
import { type Candidate, hasProof, scoreOf, weights } from './ranking.ts';

const share = { base: 0.15, margin: 0.35, coverage: 0.2, path: 0.2, kinds: 0.1 } as const;
const enoughKinds = 3;
const blindest = 0.4;

/**
 * Returns the confidence in the best candidate, from parts that can be shown. Whatever could not be
 * seen counts against it: every rival might have had the most that was not fetched about it, so
 * that less evidence never raises confidence.
 */
export function confidenceOf(
  scene: Scene,
  candidates: readonly Candidate[],
  steps: readonly Step[],
  calibration: Calibration | undefined,
): Confidence {
  const [best] = candidates;
  const coverage = coverageOf(scene);
  if (best === undefined) {
    return finished({ margin: 0, coverage, path: 0, kinds: 0 }, calibration);
  }
  const own = atLeast(best, scene);
  const rival = Math.max(
    0,
    ...[...scene.facts.keys()]
      .filter((id) => id !== best.id)
      .map((id) =>
        atMost(
          id,
          candidates.find((one) => one.id === id),
          scene,
        ),
      ),
  );
  const margin = clamp((own - rival) / own);
  const doubted = rival >= own && unseen(scene.snapshot).length > 0;
  const path = doubted ? 0 : pathOf(best, steps) * breadthOf(best, scene);
  return finished(
    { margin, coverage, path, kinds: doubted ? 0 : kindsOf(best) },
    calibration,
    isOwnCause(best, scene) ? byItself : 1,
  );
}

/** Share of the confidence that remains where a symptom is all that speaks for its own node: half of such answers are wrong. */
const byItself = 0.8;

/** Returns whether a symptom is blamed on its own node for nothing but itself: what waits in a queue is no proof against the queue. */
function isOwnCause(best: Candidate, { snapshot: { symptom } }: Scene): boolean {
  const { bonus } = best;
  return (
    best.id === symptom.node &&
    (symptom.kind === 'queue' || !hasProof(best)) &&
    bonus.logs < 0.5 &&
    bonus.traces < 0.5
  );
}

const fewHit = 3;

/** Returns the share of what answers badly that the best candidate can account for: itself and what depends on it. */
function breadthOf(best: Candidate, { facts, graph }: Scene): number {
  const reached = new Set([best.id]);
  for (const one of reached) {
    graph.neededBy(one).forEach((other) => reached.add(other));
  }
  const hit = [...facts].filter(([, { signals }]) =>
    signals.some(
      ({ relevance, deviation: { series } }) =>
        relevance >= 2 * anomalous && answerKinds.includes(series.kind),
    ),
  );
  return hit.length < fewHit ? 1 : hit.filter(([id]) => reached.has(id)).length / hit.length;
}

const unproven = 0.4;

/** Returns how far the path is checked; a symptom that is its own cause has none, and must prove it otherwise. */
function pathOf(best: Candidate, steps: readonly Step[]): number {
  const { bonus } = best;
  return steps.length > 0 || hasProof(best) || bonus.logs >= 0.5 || bonus.traces >= 0.5
    ? pathShare(steps)
    : unproven;
}

/** Returns the confidence that nothing is wrong: as high as the coverage of what was examined. */
export function calmConfidence(
  scene: Scene,
  calm: number,
  calibration: Calibration | undefined,
): Confidence {
  const sees = unseen(scene.snapshot).length === 0;
  return finished(
    { margin: sees ? calm : 0, coverage: coverageOf(scene), path: sees ? 1 : 0, kinds: 0 },
    calibration,
  );
}

function finished(
  parts: Confidence['parts'],
  calibration: Calibration | undefined,
  remaining = 1,
): Confidence {
  const sum =
    share.base +
    share.margin * parts.margin +
    share.coverage * parts.coverage +
    share.path * parts.path +
    share.kinds * parts.kinds;
  // What little was seen may fit together as well as it likes.
  const raw = clamp(remaining * sum * Math.min(1, blindest + parts.coverage));
  const value = calibration ? calibrated(raw, calibration) : raw;
  return {
    level: value >= 0.75 ? 'high' : value >= 0.5 ? 'medium' : 'low',
    value,
    parts,
    calibrated: calibration !== undefined,
  };
}

/** Returns what was planned and not fetched. What nobody collects was never planned. */
const unseen = ({ missing }: Snapshot): readonly Missing[] =>
  missing.filter(({ reason }) => reason !== 'absent');

/** Returns the share of the neighbourhood that was measured, as far as its questions were answered. */
export const coverageOf = ({ snapshot, facts }: Scene): number =>
  answeredShare(snapshot) * measuredShare(facts);

/** Returns the share of what is nearby of which anything is known; what others only call is nobody's to measure. */
export function measuredShare(facts: Scene['facts']): number {
  const near = [...facts.values()].filter(({ node }) => node.kind !== 'remote');
  return near.length === 0
    ? 1
    : near.filter(({ measured, own, seen }) => measured || own !== undefined || seen).length /
        near.length;
}

export function answeredShare(snapshot: Snapshot): number {
  const fetched = snapshot.evidence.length;
  const planned = fetched + unseen(snapshot).length;
  return planned === 0 ? 0 : fetched / planned;
}

export const lacks = (snapshot: Snapshot, node: string, kind: EvidenceKind): boolean =>
  unseen(snapshot).some(
    (one) => one.kind === kind && (one.node === undefined || one.node === node),
  );

/** Returns the score that remains of a candidate if everything unseen counts against it. */
function atLeast(candidate: Candidate, scene: Scene): number {
  return darkAround(candidate.id, scene)
    ? candidate.score - weights.leaf * candidate.relevance * candidate.leaf
    : candidate.score;
}

/** Returns the score that a rival would have if everything unseen counted for it. */
function atMost(id: string, candidate: Candidate | undefined, scene: Scene): number {
  const { snapshot } = scene;
  const dark = darkAround(id, scene);
  if (candidate === undefined && !dark) {
    return 0;
  }
  const bonus = {
    logs: lacks(snapshot, id, 'log') ? 1 : (candidate?.bonus.logs ?? 0),
    checks: lacks(snapshot, id, 'check') ? 1 : (candidate?.bonus.checks ?? 0),
    changes: lacks(snapshot, id, 'change') ? 1 : (candidate?.bonus.changes ?? 0),
    traces: lacks(snapshot, id, 'trace') ? 1 : (candidate?.bonus.traces ?? 0),
    reasons: lacks(snapshot, id, 'metric') ? 1 : (candidate?.bonus.reasons ?? 0),
  };
  const reach =
    dark ||
    candidate!.reach ||
    unseen(snapshot).some(({ kind }) => kind !== 'log' && kind !== 'change');
  return scoreOf({
    relevance: dark ? 1 : candidate!.relevance,
    leaf: dark ? 1 : candidate!.leaf,
    reach,
    shared: dark || candidate!.shared,
    bonus,
    peak: candidate?.facts.signals[0]?.deviation.peak ?? 0,
  });
}

/**
 * Returns whether something decisive about a node, or one next to it, should have been visible and
 * was not.
 */
function darkAround(id: string, { snapshot, graph }: Scene): boolean {
  return [id, ...graph.needs(id), ...graph.neededBy(id)].some((one) =>
    deciding.some((kind) => lacks(snapshot, one, kind)),
  );
}

const deciding: readonly EvidenceKind[] = ['metric', 'check', 'trace', 'topology'];

function kindsOf({ facts, bonus, accuser }: Candidate): number {
  const kinds = [
    facts.signals.length > 0 || facts.silent_since !== undefined || facts.idle_since !== undefined,
    bonus.logs >= 0.2 || accuser !== undefined,
    bonus.traces >= 0.2,
    bonus.changes >= 0.2,
    bonus.checks > 0.5,
  ];
  return Math.min(enoughKinds, kinds.filter(Boolean).length) / enoughKinds;
}
