import { changeScore } from './changes.ts';
import { blindChecks } from './checks.ts';
import type { Deviation } from './deviation.ts';
import type { Graph } from './graph.ts';
import { clamp, type NodeSignals, type Signal } from './node-signals.ts';
import type { SliKind, Snapshot } from './snapshot.ts';
import { present } from './statistics.ts';
import { valuesIn } from './grid.ts';
import type { Windows } from './windows.ts';

/** One node as a candidate for the cause, with what its score is made of. */
export interface Candidate {
  readonly id: string;
  readonly facts: NodeSignals;
  readonly score: number;
  /** How much is wrong with it that moves with the symptom; borrowed from what depends on it where it cannot tell itself. */
  readonly relevance: number;
  /** What of that no dependency of it explains. */
  readonly leaf: number;
  readonly reach: boolean;
  readonly down: boolean;
  readonly shared: boolean;
  readonly bonus: { readonly logs: number; readonly checks: number; readonly changes: number; readonly traces: number };
  /** From the node back to the symptom, when it reaches it. */
  readonly way: readonly string[];
}

/** Weights of the blend. The first two were measured on data of others, the rest on simulated faults; docs/investigation.md has both. */
export const weights = { leaf: 2, reach: 1, size: 0.01, logs: 0.8, checks: 1.2, changes: 1, traces: 0.8 } as const;

const anomalous = 0.25;

export interface Scene {
  readonly snapshot: Snapshot;
  readonly windows: Windows;
  readonly graph: Graph;
  readonly facts: ReadonlyMap<string, NodeSignals>;
}

/** All nodes with anything wrong about them, likeliest cause first. */
export function rank(scene: Scene): Candidate[] {
  const { graph, facts, snapshot, windows } = scene;
  const down = new Set([...facts.values()].filter((node) => isDown(node, scene)).map(({ node }) => node.id));
  hostsOfTheDown(down, scene);
  const relevance = new Map([...facts].map(([id, node]) => [id, down.has(id) ? Math.max(0.9, node.silence) : (node.signals[0]?.relevance ?? 0)]));
  const shared = new Set<string>();
  lend(scene, relevance, down, shared);
  const reached =
    snapshot.symptom.node === undefined
      ? new Map<string, readonly string[]>()
      : graph.reached(snapshot.symptom.node, (id) => (relevance.get(id) ?? 0) >= anomalous);
  return [...facts]
    .filter(([id]) => relevance.get(id)! > 0.05)
    .map(([id, node]): Candidate => {
      const leaf = 1 - explained(node, scene, relevance, down);
      const own = relevance.get(id)!;
      const reach = reached.has(id) || consumes(node, snapshot.symptom.node, scene) > 0.5;
      const bonus = bonusOf(node, scene, leaf);
      const extra =
        own >= anomalous ? weights.logs * bonus.logs + weights.checks * bonus.checks + weights.changes * bonus.changes + weights.traces * bonus.traces : 0;
      const size = node.signals[0]?.deviation.peak ?? 0;
      const score = own * (1 + weights.leaf * leaf + (reach ? weights.reach : 0)) + Math.min(1, own * 2) * extra + weights.size * Math.log1p(size);
      return { id, facts: node, score, relevance: own, leaf, reach, down: down.has(id), shared: shared.has(id), bonus, way: reached.get(id) ?? [] };
    })
    .filter(({ facts: { node }, relevance: own }) => own > 0.05 && (windows.onset > 0 || node.id !== ''))
    .sort((a, b) => b.score - a.score || b.relevance - a.relevance);
}

const worstOf = ({ signals }: NodeSignals, kinds: readonly SliKind[]): number =>
  Math.max(0, ...signals.filter(({ deviation }) => kinds.includes(deviation.series.kind)).map(({ relevance }) => relevance));

const answers: readonly SliKind[] = ['error_ratio', 'latency'];

/** No work reaches it, or nothing comes of it, while those that call it fail. */
function isDown({ node, silent_since: silent, idle_since: idle }: NodeSignals, { graph, facts }: Scene): boolean {
  if (silent === undefined && idle === undefined) {
    return false;
  }
  return graph.neededBy(node.id).some((id) => graph.edge(id, node.id)!.relation !== 'runs_on' && worstOf(facts.get(id)!, answers) >= anomalous);
}

/** A host that is silent while everything on it is down has gone with all of it. */
function hostsOfTheDown(down: Set<string>, { graph, facts }: Scene): void {
  for (const [id, { silent_since: silent }] of facts) {
    const on = graph.neededBy(id).filter((other) => graph.edge(other, id)!.relation === 'runs_on');
    if (
      silent !== undefined &&
      on.some((other) => down.has(other)) &&
      on.every((other) => down.has(other) || facts.get(other)!.silent_since !== undefined || facts.get(other)!.idle_since !== undefined)
    ) {
      down.add(id);
    }
  }
}

/** A node that cannot tell what is wrong with it is judged by what happens to those that stand on it. */
function lend({ graph, facts }: Scene, relevance: Map<string, number>, down: ReadonlySet<string>, shared: Set<string>): void {
  for (const [id, node] of facts) {
    const on = graph.neededBy(id).filter((other) => facts.get(other)!.measured);
    const values = on.map((other) => (down.has(other) ? 0.9 : worstOf(facts.get(other)!, answers)));
    if (node.complaints.some(({ check }) => !blindChecks.has(check))) {
      relevance.set(id, Math.max(relevance.get(id)!, 0.9 * Math.max(0, ...values)));
    }
    const standing = on.filter((other) => graph.edge(other, id)!.relation === 'runs_on');
    const hit = standing.filter((other) => isHitItself(other, { graph, facts }));
    if (hit.length >= 2 && hit.length >= 0.6 * standing.length && relevance.get(id)! < anomalous) {
      shared.add(id);
      relevance.set(id, Math.max(relevance.get(id)!, 0.85 * Math.min(...hit.map((other) => worstOf(facts.get(other)!, answers)))));
    }
  }
}

/** Whether a node answers badly and none of those it calls does so enough to account for it. */
function isHitItself(id: string, { graph, facts }: Pick<Scene, 'graph' | 'facts'>): boolean {
  const node = facts.get(id)!;
  if (worstOf(node, answers) < anomalous) {
    return false;
  }
  return graph.needs(id).every((other) => passedOn(node, facts.get(other)!) < 0.5);
}

/** How much of what is wrong with a node its dependencies account for, from 0 to 1. */
function explained(node: NodeSignals, scene: Scene, relevance: ReadonlyMap<string, number>, down: ReadonlySet<string>): number {
  const { graph, facts } = scene;
  let passed = 0;
  let most = 0;
  for (const id of graph.needs(node.node.id)) {
    const other = facts.get(id)!;
    const value = relevance.get(id)!;
    if (down.has(id)) {
      return 1;
    }
    if (value < anomalous) {
      continue;
    }
    if (worstOf(other, answers) >= anomalous) {
      passed += passedOn(node, other) * Math.min(1, value / 0.6);
    } else {
      most = Math.max(most, clamp(value * 1.2) * (1 - consumes(node, id, scene)));
    }
  }
  const byCalls = clamp(passed);
  const inside = insideShare(node);
  const fromBelow = inside === undefined ? byCalls : 0.4 * byCalls + 0.6 * (1 - inside);
  return clamp(Math.max(most, fromBelow, consumed(node, scene)));
}

/** How much of the errors and of the delay of a node would be there if it only passed on those of another one. */
function passedOn(node: NodeSignals, other: NodeSignals): number {
  const slow = worstOf(node, ['latency']) >= anomalous && node.latency > 0 ? clamp(other.latency / node.latency) : 0;
  const failing = worstOf(node, ['error_ratio']) >= anomalous && node.errors > 0 ? clamp(other.errors / node.errors) : 0;
  const timeouts = other.latency > 0 && worstOf(other, ['latency']) >= anomalous && worstOf(node, ['error_ratio']) > worstOf(node, ['latency']) ? 0.5 : 0;
  return Math.max(slow, failing, timeouts);
}

/** What traces say arises in the node itself, of what is wrong with it; undefined where they say nothing. */
function insideShare(node: NodeSignals): number | undefined {
  const { own } = node;
  if (own === undefined) {
    return undefined;
  }
  const slow = worstOf(node, ['latency']) >= anomalous && node.latency > 0 ? clamp(own.slower / node.latency) : undefined;
  const failing = worstOf(node, ['error_ratio']) >= anomalous && node.errors > 0 ? clamp(own.failing / node.errors) : undefined;
  return slow === undefined && failing === undefined ? undefined : Math.max(slow ?? 0, failing ?? 0);
}

/** How much a resource that a node stands on is used up by that very node: both rise, and together. */
function consumes(node: NodeSignals, on: string | undefined, { graph, facts, windows }: Scene): number {
  const host = on === undefined ? undefined : facts.get(on);
  if (host === undefined || on === node.node.id || !graph.edge(node.node.id, on!)) {
    return 0;
  }
  return Math.max(
    0,
    ...host.signals
      .filter(({ relevance }) => relevance >= anomalous)
      .flatMap(({ deviation }) =>
        node.signals
          .filter((own) => own.deviation.series.kind === deviation.series.kind && !answers.includes(deviation.series.kind))
          .map((own) => together(own, deviation, windows)),
      ),
  );
}

/** A resource is not the cause where one of those that stand on it uses it up. */
function consumed({ node }: NodeSignals, scene: Scene): number {
  return Math.max(0, ...scene.graph.neededBy(node.id).map((id) => consumes(scene.facts.get(id)!, node.id, scene)));
}

function together({ deviation: { series, worst, usual } }: Signal, other: Deviation, { baseline, look }: Windows): number {
  const rises = present(valuesIn(series, { from: baseline.from, to: look.to })).length > 8 && worst > usual.median * 1.3;
  return rises && other.peak > 0 ? 0.8 : 0;
}

function bonusOf({ node, templates, complaints, own }: NodeSignals, { snapshot, windows, graph }: Scene, leaf: number): Candidate['bonus'] {
  const change = Math.max(0, ...snapshot.changes.map((one) => changeScore(one, node.id, windows.onset, graph)));
  return {
    logs: (templates[0]?.score ?? 0) * leaf,
    checks: complaints.some(({ check }) => !blindChecks.has(check)) ? 1 : 0,
    changes: change * leaf,
    traces: own === undefined ? 0 : Math.max(own.origin, own.deviation >= 8 ? 0.8 : 0) * leaf,
  };
}
