import { blindChecks, knownChecks } from '../signals/checks.ts';
import { gates } from '../signals/deviation.ts';
import {
  answerKinds as answers,
  clamp,
  type NodeSignals,
  waiting,
} from '../signals/node-signals.ts';
import type { SliKind } from '../signals/snapshot.ts';
import { type Accuser, accuse, blamedShare, tells } from './accusations.ts';
import { suspectInCommon } from './shared-dependencies.ts';
import { isHitItself, passedOn } from './passed-on.ts';
import { anomalous, type Scene, standsOn, worstOf } from './scene.ts';

/** Relevance of each node that moves with the symptom, and how it was determined. */
export interface Blame {
  readonly relevance: ReadonlyMap<string, number>;
  readonly down: ReadonlySet<string>;
  /** Hosts judged by their many dependents that are hit together. */
  readonly shared: ReadonlySet<string>;
  /** Whose lines name a node as one that they called, and which. */
  readonly accusers: ReadonlyMap<string, Accuser>;
  /** What only one dependent points to: that explains nothing of the dependent. */
  readonly guessed: ReadonlySet<string>;
}

const lentByDown = 0.9;

export function blameOf(scene: Scene): Blame {
  const down = downNodes(scene);
  const relevance = new Map(
    [...scene.facts].map(([id, node]) => [
      id,
      down.has(id)
        ? Math.max(lentByDown, node.silence)
        : Math.max(node.signals[0]?.relevance ?? 0, tracedOf(node)),
    ]),
  );
  const shared = new Set<string>();
  lend(scene, relevance, down, shared);
  const guessed = suspectInCommon(scene, relevance, down, shared);
  suspectUnlinked(scene, relevance, down);
  suspectPlaces(scene, relevance);
  const accusers = accuse(scene, relevance);
  return { relevance, down, shared, accusers, guessed };
}

const traced = 0.85;
const muchSlower = 16;

/**
 * Returns the relevance that traces alone give a node: failures begin there, and most of what it is asked; for what nobody measures also
 * the time that it takes and did not before.
 */
function tracedOf({ measured, own }: NodeSignals): number {
  if (own === undefined) {
    return 0;
  }
  const failing = !measured || own.failing >= mostlyFailing ? own.origin : 0;
  const slow = !measured && own.slower >= leastSlower ? clamp(own.deviation / muchSlower) : 0;
  return traced * Math.max(failing, slow);
}

const mostlyFailing = 0.3;
/** Seconds. */
const leastSlower = 0.01;

const bySplit = 0.8;

/** Suspects the hosts on which the failing requests of a service were served while it serves others elsewhere. */
function suspectPlaces({ snapshot, facts }: Scene, relevance: Map<string, number>): void {
  for (const { node, place } of snapshot.splits ?? []) {
    const own = facts.get(node);
    if (place !== undefined && own !== undefined && relevance.has(place)) {
      relevance.set(place, Math.max(relevance.get(place)!, bySplit * worstOf(own, answers)));
    }
  }
}

/**
 * Returns the nodes that receive no work or complete none, while their callers fail; and hosts that
 * fell silent with everything on them.
 */
function downNodes({ graph, facts }: Scene): ReadonlySet<string> {
  const gone = ({ silent_since: silent, idle_since: idle }: NodeSignals): boolean =>
    silent !== undefined || idle !== undefined;
  const isIdle = (id: string): boolean => facts.get(id)!.idle_since !== undefined;
  const down = new Set(
    [...facts.values()]
      .filter(
        (node) =>
          gone(node) &&
          // Who is asked by those who get no work themselves gets none of them.
          (node.silent_since !== undefined || !graph.neededBy(node.node.id).some(isIdle)) &&
          graph
            .neededBy(node.node.id)
            .some(
              (id) =>
                !standsOn(graph, id, node.node.id) && worstOf(facts.get(id)!, answers) >= anomalous,
            ),
      )
      .map(({ node }) => node.id),
  );
  for (const [id, { silent_since: silent }] of facts) {
    const on = graph.neededBy(id).filter((other) => standsOn(graph, other, id));
    if (
      silent !== undefined &&
      on.some((other) => down.has(other)) &&
      on.every((other) => down.has(other) || gone(facts.get(other)!))
    ) {
      down.add(id);
    }
  }
  return down;
}

/** Share of all that is hit by itself that must be on a host for it to be what they have in common. */
const leastInCommon = 0.5;

/** Judges a node without own signals by the state of its dependents. */
function lend(
  scene: Scene,
  relevance: Map<string, number>,
  down: ReadonlySet<string>,
  shared: Set<string>,
): void {
  const { graph, facts } = scene;
  const badness = (id: string): number =>
    down.has(id) ? lentByDown : worstOf(facts.get(id)!, answers);
  const hitAnywhere = [...facts].filter(
    ([id, { node }]) => node.kind !== 'host' && (down.has(id) || isHitItself(id, '', scene, down)),
  ).length;
  for (const [id, node] of facts) {
    const needing = graph.neededBy(id).filter((other) => facts.get(other)!.measured);
    const standing = needing.filter((other) => standsOn(graph, other, id));
    const hit = needing.filter((other) => down.has(other) || isHitItself(other, id, scene, down));
    const struck = standing.filter((other) => hit.includes(other));
    const trust = Math.max(exhausted(node) ? 1 : 0, complained(node));
    if (trust > 0 && hit.length > 0) {
      const spread = standing.length === 0 ? 1 : 0.6 + 0.4 * (struck.length / standing.length);
      relevance.set(
        id,
        Math.max(relevance.get(id)!, 0.95 * trust * spread * Math.max(...hit.map(badness))),
      );
    }
    // Where as much is hit elsewhere, it is not this host that they have in common.
    if (
      struck.length >= 2 &&
      struck.length >= 0.6 * standing.length &&
      struck.length >= leastInCommon * hitAnywhere
    ) {
      shared.add(id);
      relevance.set(id, Math.max(relevance.get(id)!, 0.85 * Math.min(...struck.map(badness))));
    }
  }
}

const unwitnessed = 0.8;
const unplaced = 0.6;

/**
 * Considers missing edges. What falls silent together with the symptom may have an unknown caller,
 * and what has no known host may be on one that complains: neither counts as much as a known edge.
 */
function suspectUnlinked(
  { graph, facts, snapshot }: Scene,
  relevance: Map<string, number>,
  down: ReadonlySet<string>,
): void {
  const homeless = [...facts.keys()].filter(
    (id) =>
      facts.get(id)!.node.kind !== 'host' &&
      worstOf(facts.get(id)!, answers) >= anomalous &&
      !graph.needs(id).some((other) => standsOn(graph, id, other)),
  );
  const most = Math.max(0, ...homeless.map((id) => worstOf(facts.get(id)!, answers)));
  for (const [id, node] of facts) {
    const raise = (to: number): unknown => relevance.set(id, Math.max(relevance.get(id)!, to));
    const called = graph.neededBy(id).some((other) => !standsOn(graph, other, id));
    if (
      node.node.kind !== 'host' &&
      !called &&
      !down.has(id) &&
      id !== snapshot.symptom.node &&
      node.silence >= leastStep
    ) {
      raise(unwitnessed * node.silence);
    }
    if (node.node.kind === 'host' && most > 0) {
      raise(unplaced * Math.max(exhausted(node) ? 1 : 0, complained(node)) * most);
    }
  }
}

const leastStep = 0.6;

/** A resource that is used up does its harm from then on, however long it took to get there. */
const exhausted = ({ signals }: NodeSignals): boolean =>
  signals.some(({ deviation: { series, worst, peak } }) => {
    const used = series.unit === 'percent' ? worst : series.unit === 'ratio' ? worst * 100 : 0;
    return (
      peak >= gates.strict &&
      used >= 97 &&
      (series.kind === 'disk' || series.kind === 'memory' || series.kind === 'cpu')
    );
  });

const calmlyMeasured = 0.35;

/**
 * Returns the credibility of a node's complaints: lower if the very thing is measured, and calm.
 */
export function complained({ complaints, deviations, signals }: NodeSignals): number {
  return Math.max(
    0,
    ...complaints
      .filter(({ check }) => !blindChecks.has(check))
      .map(({ check }) => {
        const shows = knownChecks[check]!.shows ?? [];
        const measured = deviations.some(({ series }) => shows.includes(series.kind));
        return measured && !signals.some(({ deviation }) => shows.includes(deviation.series.kind))
          ? calmlyMeasured
          : 1;
      }),
  );
}

/** Returns the share of a node's trouble, from 0 to 1, that its dependencies account for. */
export function explained(
  node: NodeSignals,
  scene: Scene,
  { relevance, down, guessed, accusers }: Blame,
): number {
  const { graph, facts } = scene;
  let passed = 0;
  let most = 0;
  for (const id of graph.needs(node.node.id)) {
    const other = facts.get(id)!;
    const value = relevance.get(id)!;
    if (down.has(id)) {
      return 1;
    }
    if (guessed.has(id)) {
      continue;
    }
    // What waits for a node says nothing against what it waits in.
    if (graph.edge(id, node.node.id)?.relation === 'drained_by') {
      continue;
    }
    if (value >= anomalous) {
      most = Math.max(most, mostBlamed * blamedShare(node, id));
    }
    if (value >= anomalous && worstOf(other, answers) >= anomalous) {
      const sure = graph.edge(node.node.id, id)?.weight ?? 1;
      passed += sure * passedOn(node, other) * Math.min(1, value / 0.6);
    } else if (value >= anomalous) {
      const byLines = accusers.has(id) && tells(node) ? blamedShare(node, id) : 1;
      most = Math.max(most, clamp(value * 1.2) * byLines * (1 - consumes(node, id, scene)));
    }
  }
  const inside = insideShare(node);
  const fromBelow = inside === undefined ? clamp(passed) : 0.4 * clamp(passed) + 0.6 * (1 - inside);
  return clamp(Math.max(most, fromBelow, consumed(node, scene)));
}

const mostBlamed = 0.9;

/**
 * Returns the share of a node's trouble that arises in the node itself, according to traces;
 * undefined if they say nothing.
 */
export function insideShare(node: NodeSignals): number | undefined {
  const { own } = node;
  if (own === undefined) {
    return undefined;
  }
  const slow =
    worstOf(node, ['latency']) >= anomalous && node.latency > 0
      ? clamp(own.slower / node.latency)
      : undefined;
  const failing =
    worstOf(node, ['error_ratio']) >= anomalous && node.errors > 0
      ? clamp(own.failing / node.errors)
      : undefined;
  return slow === undefined && failing === undefined
    ? undefined
    : Math.max(slow ?? 0, failing ?? 0);
}

/** Resources that can be used up. */
export const usable: readonly SliKind[] = ['cpu', 'memory', 'disk', 'network'];

/** Returns how far a node itself uses up a resource that it depends on: both rise. */
export function consumes(
  node: NodeSignals,
  on: string | undefined,
  { graph, facts }: Scene,
): number {
  const host = on === undefined ? undefined : facts.get(on);
  if (host === undefined || graph.edge(node.node.id, on!) === undefined) {
    return 0;
  }
  const risen = new Set(
    host.signals
      .filter(
        ({ relevance, deviation }) =>
          relevance >= anomalous && usable.includes(deviation.series.kind),
      )
      .map(({ deviation }) => deviation.series.kind),
  );
  return node.signals.some(
    ({ deviation: { series, worst, usual } }) =>
      // Whoever waits for a resource uses none of it.
      risen.has(series.kind) && !waiting.test(series.metric) && worst > usual.median * 1.3,
  )
    ? 0.8
    : 0;
}

/** Returns how far a resource is used up by a dependent, in which case it is not the cause. */
const consumed = ({ node }: NodeSignals, scene: Scene): number =>
  Math.max(
    0,
    ...scene.graph.neededBy(node.id).map((id) => consumes(scene.facts.get(id)!, node.id, scene)),
  );
