import { type Deviation, floorOf, gates } from '../signals/deviation.ts';
import type { Confidence, Verdict } from '../signals/findings.ts';
import { valuesIn } from '../signals/grid.ts';
import { answerKinds, type NodeSignals } from '../signals/node-signals.ts';
import type { Series } from '../signals/snapshot.ts';
import { mean, median, present, quantileOf } from '../signals/statistics.ts';
import { anomalous, type Scene, standsOn } from './scene.ts';
import { answeredShare, lacks, measuredShare } from './confidence.ts';
import { type Candidate, hasProof } from './ranking.ts';

/** Reason of a verdict, as far as the report has to state it. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly because: 'silent' | 'calm' | 'load' | 'alone' | 'unseen' | 'thin' | 'found';
  /** Node that is silent, is the entry of the load, or could not be seen. */
  readonly node?: string;
  readonly ratio?: number;
}

/** Share of the questions that were answered, and of the nodes that are measured, below which nothing is named. */
const leastAnswered = 0.5;
const leastMeasured = 1 / 3;

const seesLittle = ({ snapshot, facts }: Scene): boolean =>
  answeredShare(snapshot) < leastAnswered || measuredShare(facts) < leastMeasured;

export function judge(
  scene: Scene,
  candidates: readonly Candidate[],
  symptom: Series | undefined,
  confidence: Confidence,
): Judgement {
  const [best] = candidates;
  const blind = blindSpot(scene, best);
  if (blind !== undefined) {
    return { verdict: 'monitoring_fault', because: 'silent', node: blind };
  }
  const calm = isCalm(scene, symptom);
  if (calm === true) {
    return {
      verdict: endsWell(scene, symptom)
        ? 'recovered'
        : seesLittle(scene)
          ? 'insufficient_data'
          : 'no_anomaly',
      because: 'calm',
    };
  }
  const load = surge(scene, best);
  if (load !== undefined) {
    return { verdict: 'no_anomaly', because: 'load', ...load };
  }
  if (best === undefined) {
    // Not calm: either the symptom deviates, or nobody can tell. Then nothing is not the answer.
    return { verdict: 'insufficient_data', because: calm === undefined ? 'thin' : 'alone' };
  }
  if (isUnconfirmed(scene, best, symptom)) {
    return { verdict: 'insufficient_data', because: 'alone' };
  }
  const hidden = unseenBelow(best, scene);
  if (hidden !== undefined || seesLittle(scene)) {
    return {
      verdict: 'insufficient_data',
      because: hidden === undefined ? 'thin' : 'unseen',
      ...(hidden === undefined ? {} : { node: hidden }),
    };
  }
  return {
    verdict:
      confidence.parts.path === 1 && confidence.parts.kinds > 0.5 && confidence.value >= 0.6
        ? 'root_cause'
        : 'suspected',
    because: 'found',
  };
}

/**
 * Returns whether the only suspect is the symptom itself, and the same measure of the same node, taken otherwise, does not bear it out, or it has
 * only single peaks: a quantile over few requests goes up and down by itself.
 */
function isUnconfirmed(
  { snapshot, facts }: Scene,
  best: Candidate,
  symptom: Series | undefined,
): boolean {
  const { node } = snapshot.symptom;
  if (symptom === undefined || best.id !== node || hasProof(best) || best.bonus.logs > 0) {
    return false;
  }
  const own = facts.get(node)!.deviations.find(({ series }) => series === symptom);
  if (own !== undefined && own.onset_at === undefined) {
    return true;
  }
  const alike = facts
    .get(node)!
    .deviations.filter(({ series }) => series !== symptom && series.kind === symptom.kind);
  const bears = new Set(
    facts
      .get(node)!
      .signals.filter(({ relevance }) => relevance >= anomalous)
      .map(({ deviation }) => deviation.series),
  );
  return alike.length > 0 && alike.every(({ series }) => !bears.has(series));
}

/**
 * Returns the node without data although nothing indicates a problem: measuring failed, not the
 * node.
 */
function blindSpot(
  { snapshot, graph, facts }: Scene,
  best: Candidate | undefined,
): string | undefined {
  const { node, direction } = snapshot.symptom;
  const own = node === undefined ? undefined : facts.get(node);
  if (
    own === undefined ||
    best?.down ||
    (direction !== 'absent' && own.silent_since === undefined)
  ) {
    return undefined;
  }
  const under = graph
    .needs(node!)
    .find((id) => standsOn(graph, node!, id) && facts.get(id)!.silent_since !== undefined);
  const silent = own.silent_since !== undefined || own.complaints.length > 0;
  return silent ? (under ?? node) : undefined;
}

/** Returns whether the symptom is within its usual range; undefined if unknown. */
function isCalm(
  { facts, snapshot, windows }: Scene,
  symptom: Series | undefined,
): boolean | undefined {
  const deviation = facts
    .get(symptom?.node ?? '')
    ?.deviations.find(({ series }) => series === symptom);
  if (deviation === undefined || snapshot.symptom.direction === 'absent') {
    return undefined;
  }
  return (
    deviation.peak < gates.relaxed && deviation.middle < gates.relaxed && !lasts(deviation, windows)
  );
}

/**
 * Returns whether a deviation lasts. A nearly constant series has rare peaks, next to which smaller
 * but lasting deviations look minor: two in a row are not a peak.
 */
function lasts(
  { series, usual, worst }: Deviation,
  { baseline, incident }: Scene['windows'],
): boolean {
  if (usual.mad > 0) {
    return false;
  }
  const sign = worst < usual.median ? -1 : 1;
  const rare =
    quantileOf(
      present(valuesIn(series, baseline)).map((value) => sign * value),
      0.95,
    ) + floorOf(series, usual.median);
  const beyond = present(valuesIn(series, incident)).map((value) => sign * value > rare);
  return beyond.some((is, at) => is && beyond[at + 1] === true);
}

/** Returns whether the symptom deviated for a while and has recovered. */
function endsWell({ facts, windows, snapshot }: Scene, symptom: Series | undefined): boolean {
  const deviation = facts
    .get(symptom?.node ?? '')
    ?.deviations.find(({ series }) => series === symptom);
  return (
    deviation !== undefined &&
    deviation.peak >= 3 &&
    snapshot.symptom.resolved_at !== undefined &&
    windows.onset < snapshot.symptom.resolved_at
  );
}

const muchMore = 1.25;

/** Returns whether more work than usual came in, and what is wrong is an effect of it. */
function surge(
  { snapshot, graph, facts, windows }: Scene,
  best: Candidate | undefined,
): Pick<Judgement, 'node' | 'ratio'> | undefined {
  const { node } = snapshot.symptom;
  if (node === undefined || best === undefined || speaksForItself(best)) {
    return undefined;
  }
  const entries = [node, ...callersOf(node, graph)];
  const risen = entries.flatMap((id) => {
    const rate = rateOf(facts.get(id)!);
    const ratio = rate && growth(rate, windows);
    return rate &&
      ratio !== undefined &&
      grewNow(rate, windows, snapshot) &&
      rate.peak >= gates.relaxed &&
      ratio >= muchMore &&
      (rate.onset_at ?? 0) <= windows.onset + 5 * rate.series.step_ms
      ? [{ node: id, ratio }]
      : [];
  });
  const most = risen.sort((a, b) => b.ratio - a.ratio)[0];
  return most &&
    !(best.id === most.node && best.bonus.changes >= 0.5) &&
    grewToo(best, { graph, facts, windows }, most.ratio)
    ? most
    : undefined;
}

/** Something beyond load that points at the candidate. A change below the entry makes nobody come in more often, so it does not. */
const speaksForItself = ({ down, bonus, facts }: Candidate): boolean =>
  down ||
  bonus.logs >= 0.5 ||
  facts.complaints.some(
    ({ check }) =>
      !['load_per_core', 'iowait', 'edge_offline'].includes(check) && bonus.checks > 0.5,
  );

const rateOf = ({ deviations }: NodeSignals) =>
  deviations.find(({ series }) => series.kind === 'rate');

function growth(
  { series, usual }: NonNullable<ReturnType<typeof rateOf>>,
  { incident }: Scene['windows'],
): number | undefined {
  const during = present(valuesIn(series, incident));
  // Work that is still growing when the alert fires counts by its latest value.
  return during.length === 0 || usual.median <= 0
    ? undefined
    : Math.max(median(during), mean(during.slice(-2))) / usual.median;
}

const twoHours = 7_200_000;

/**
 * Returns whether the rate grew just now: work that was there all along did not make anything go
 * wrong. If the quiet time is on another day, only a visible rise counts.
 */
function grewNow(
  { series }: NonNullable<ReturnType<typeof rateOf>>,
  { compare, onset, incident }: Scene['windows'],
  { baseline }: Scene['snapshot'],
): boolean {
  const since = baseline === undefined ? onset - twoHours : compare.from;
  const before = present(valuesIn(series, { from: since, to: onset - 3 * series.step_ms }));
  const during = present(valuesIn(series, incident));
  const least = baseline === undefined ? quantileOf(before, 0.1) : median(before);
  return before.length > 0 && Math.max(...during) >= 1.2 * least;
}

/** The candidate, or what runs on it, has more to do than usual as well. */
function grewToo(
  { id }: Candidate,
  { graph, facts, windows }: Pick<Scene, 'graph' | 'facts' | 'windows'>,
  ratio: number,
): boolean {
  const rate = rateOf(facts.get(id)!);
  const own = rate && growth(rate, windows);
  if (own !== undefined) {
    return own >= 1 + (ratio - 1) * 0.4;
  }
  const standing = graph.neededBy(id).flatMap((other) => {
    const theirs = rateOf(facts.get(other)!);
    return (theirs && growth(theirs, windows)) ?? [];
  });
  return standing.length > 0 && Math.max(...standing) >= 1 + (ratio - 1) * 0.4;
}

function callersOf(node: string, graph: Scene['graph']): readonly string[] {
  const found = new Set<string>();
  const waiting = [node];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    graph.neededBy(at).forEach((id) => {
      if (!found.has(id) && id !== node) {
        found.add(id);
        waiting.push(id);
      }
    });
  }
  return [...found];
}

/**
 * Returns something next to the candidate that should have been examined and was not, if nothing in
 * the candidate itself proves it.
 */
function unseenBelow(best: Candidate, { snapshot, graph, facts }: Scene): string | undefined {
  const { signals, own, latency } = best.facts;
  // A node judged by its dependents may as well be judged by what else they need.
  const lent = signals.length === 0 && !best.down;
  const near = [
    ...graph.needs(best.id),
    ...(lent ? graph.neededBy(best.id).flatMap((id) => graph.needs(id)) : []),
  ];
  const hidden = near.filter((id) => !facts.get(id)!.measured && lacks(snapshot, id, 'metric'));
  const resource = signals.some(
    ({ deviation: { series }, relevance }) =>
      relevance >= 0.4 && !answerKinds.includes(series.kind) && series.kind !== 'other',
  );
  if (resource || best.bonus.changes >= 0.5 || best.bonus.checks > 0.5) {
    return undefined;
  }
  // Time that was spent in the node itself was not spent waiting; an error may begin where a call went out and reached nothing.
  const inside =
    own !== undefined &&
    latency > 0 &&
    own.slower / latency >= 0.7 &&
    signals[0]?.deviation.series.kind === 'latency';
  return hidden.find((id) => standsOn(graph, best.id, id)) ?? (inside ? undefined : hidden[0]);
}
