import { answerKinds, type NodeSignals } from '../signals/node-signals.ts';
import type { Accuser } from './accusations.ts';
import { type Blame, blameOf, complained, consumes, explained } from './blame.ts';
import { reasonOf } from './reasons.ts';
import { anomalous, type Scene, standsOn } from './scene.ts';
import { changeScore } from './changes.ts';

/** Node as a candidate for the cause, with the parts of its score. */
export interface Candidate {
  readonly id: string;
  readonly facts: NodeSignals;
  readonly score: number;
  readonly relevance: number;
  /** Share of that which no dependency explains. */
  readonly leaf: number;
  readonly reach: boolean;
  readonly down: boolean;
  readonly shared: boolean;
  readonly accuser?: Accuser;
  readonly bonus: Bonus;
  /** Path from the node to the symptom, if it reaches it through anomalous nodes. */
  readonly way: readonly string[];
}

interface Bonus {
  readonly logs: number;
  readonly checks: number;
  readonly changes: number;
  readonly traces: number;
  readonly reasons: number;
}

/** Weights of the blend. The first two were measured on data of others, the rest on simulated faults; docs/investigation.md has both. */
export const weights = {
  leaf: 2,
  reach: 1,
  size: 0.01,
  logs: 0.8,
  checks: 1.2,
  changes: 1,
  traces: 0.8,
  reasons: 0.5,
  shared: 0.6,
} as const;

const leastRelevance = 0.05;

/** All nodes with anything wrong about them, likeliest cause first. */
export function rank(scene: Scene): {
  readonly candidates: readonly Candidate[];
  readonly blame: Blame;
} {
  const { graph, facts, snapshot } = scene;
  const blame = blameOf(scene);
  const { node: centre } = snapshot.symptom;
  const reached =
    centre === undefined
      ? new Map<string, readonly string[]>()
      : graph.reached(centre, (id) =>
          blame.relevance.get(id)! >= anomalous ? blame.relevance.get(id)! : 0,
        );
  const found = [...facts]
    .filter(([id]) => blame.relevance.get(id)! > leastRelevance)
    .map(([, node]) => candidateOf(node, scene, blame, reached));
  return { candidates: [...found, ...underneath(found, scene)].sort(byScore), blame };
}

const byScore = (a: Candidate, b: Candidate): number =>
  b.score - a.score || b.relevance - a.relevance || a.facts.signals.length - b.facts.signals.length;

function candidateOf(
  facts: NodeSignals,
  scene: Scene,
  blame: Blame,
  reached: ReadonlyMap<string, readonly string[]>,
): Candidate {
  const { id } = facts.node;
  const relevance = blame.relevance.get(id)!;
  const leaf =
    (isUncharted(facts, scene) ? charted * depthOf(facts, scene) : 1) *
    (1 - explained(facts, scene, blame));
  const reach =
    (reached.has(id) && !(scene.graph.callsUnknown && !hasOwnTrouble(facts))) ||
    consumes(facts, scene.snapshot.symptom.node, scene) > 0.5 ||
    (scene.graph.callsUnknown && hasOwnTrouble(facts));
  const bonus = bonusOf(facts, scene, leaf);
  const shared = blame.shared.has(id);
  const score = scoreOf({
    relevance,
    leaf,
    reach,
    shared,
    bonus,
    peak: facts.signals[0]?.deviation.peak ?? 0,
  });
  return {
    id,
    facts,
    score,
    relevance,
    leaf,
    reach,
    down: blame.down.has(id),
    shared,
    ...(blame.accusers.has(id) && { accuser: blame.accusers.get(id)! }),
    bonus,
    way: reached.get(id) ?? [],
  };
}

/**
 * Weight of a node known only through its callers, or of one that only answers badly where no call
 * is known at all: its dependencies are unknown, so that none
 * accounts for its trouble is only half true.
 */
const charted = 0.5;

const isUncharted = (facts: NodeSignals, { graph }: Scene): boolean =>
  (facts.node.kind === 'remote' && graph.needs(facts.node.id).length === 0) ||
  (graph.callsUnknown && !hasOwnTrouble(facts));

const leastDepth = 0.4;

/**
 * Returns how deep in the chain of calls a node seems to be where nobody knows the calls, from 0.4 to 2: the share that fails, and the
 * times by which answers take longer, shrink on the way up, where other calls dilute them.
 */
function depthOf(facts: NodeSignals, { facts: all, graph, snapshot }: Scene): number {
  if (!graph.callsUnknown) {
    return 1;
  }
  const { kind, series } = snapshot.symptom;
  const of = (one: NodeSignals): number =>
    kind === 'latency' ? Math.log1p(slowing(one, series)) : one.errors;
  const most = Math.max(0, ...[...all.values()].map(of));
  return most === 0 ? 1 : leastDepth + (2 - leastDepth) * (of(facts) / most) ** 2;
}

/** Times by which answers take longer than usual; the symptom's own measure counts only where there is no other. */
function slowing({ signals }: NodeSignals, symptom: string | undefined): number {
  const slow = signals.filter(
    ({ relevance, deviation: { series } }) => relevance >= 0.2 && series.kind === 'latency',
  );
  const others = slow.filter(({ deviation: { series } }) => series.id !== symptom);
  return Math.max(
    0,
    ...(others.length > 0 ? others : slow).map(
      ({ deviation: { worst, usual } }) => worst / Math.max(usual.median, 1e-3) - 1,
    ),
  );
}

/** Something beyond its answers, which may be those of others. */
const hasOwnTrouble = ({ signals }: NodeSignals): boolean =>
  signals.some(
    ({ relevance, deviation: { series } }) =>
      relevance >= 2 * anomalous && !answerKinds.includes(series.kind),
  );

/**
 * Returns the score: correlation and structure first; other evidence adds to it, but never makes a
 * suspect of a healthy node.
 */
export function scoreOf({
  relevance,
  leaf,
  reach,
  shared,
  bonus,
  peak,
}: Pick<Candidate, 'relevance' | 'leaf' | 'reach' | 'shared' | 'bonus'> & {
  readonly peak: number;
}): number {
  const blend = relevance * (1 + weights.leaf * leaf + (reach ? weights.reach : 0));
  const extra =
    (shared ? weights.shared : 0) +
    weights.logs * bonus.logs +
    weights.checks * bonus.checks +
    weights.changes * bonus.changes +
    weights.traces * bonus.traces +
    weights.reasons * bonus.reasons;
  return (
    blend +
    (relevance >= anomalous ? Math.min(1, relevance * 2) * extra : 0) +
    weights.size * Math.log1p(peak)
  );
}

function bonusOf(facts: NodeSignals, { snapshot, windows, graph }: Scene, leaf: number): Bonus {
  const { node, templates, own } = facts;
  const change = Math.max(
    0,
    ...snapshot.changes.map((one) => changeScore(one, node.id, windows.onset, graph)),
  );
  return {
    logs: (templates[0]?.score ?? 0) * leaf,
    checks: complained(facts),
    changes: change * leaf,
    traces: own === undefined ? 0 : Math.max(own.origin, own.deviation >= 8 ? 0.8 : 0) * leaf,
    reasons: reasonOf(facts) * leaf,
  };
}

const underneathShare = 0.55;

/**
 * Returns the nodes underneath: the next place to look if nothing in a node itself says why, as no
 * metric shows some host troubles.
 */
function underneath(found: readonly Candidate[], { graph, facts }: Scene): Candidate[] {
  const known = new Set(found.map(({ id }) => id));
  const standing = found.filter(
    ({ leaf, relevance, bonus }) => leaf >= 0.6 && relevance >= 0.6 && bonus.changes < 0.5,
  );
  const best = new Map<string, Candidate>();
  for (const { id, relevance, way, reach } of standing) {
    for (const host of graph
      .needs(id)
      .filter((other) => standsOn(graph, id, other) && !known.has(other))) {
      const lent = underneathShare * relevance;
      const bonus = { logs: 0, checks: 0, changes: 0, traces: 0, reasons: 0 };
      const score = scoreOf({ relevance: lent, leaf: 1, reach, shared: false, bonus, peak: 0 });
      if (score > (best.get(host)?.score ?? 0)) {
        best.set(host, {
          id: host,
          facts: facts.get(host)!,
          score,
          relevance: lent,
          leaf: 1,
          reach,
          down: false,
          shared: false,
          bonus,
          way: [host, ...way],
        });
      }
    }
  }
  return [...best.values()];
}

const leastProof = 0.5;

/** Something beyond its answers, which may be those of others: a resource, a check, a change, an end. */
export const hasProof = ({ facts, bonus, down }: Candidate): boolean =>
  down ||
  bonus.checks > leastProof ||
  bonus.changes >= leastProof ||
  facts.signals.some(
    ({ relevance, deviation: { series } }) =>
      relevance >= leastProof && !answerKinds.includes(series.kind),
  );
