import { pick, type Random, seeded } from 'svc/seeded';
import type { Edge, Missing, Node, Series, Snapshot } from 'svc/rca';

import { type Case, EvidenceList, snapshotOf } from '../case.ts';
import { alertOf, type Fired } from './alerts.ts';
import type { Fault, Making } from './fault.ts';
import { knownFaults } from './faults.ts';
import { type Course, run, type Signals } from './signals.ts';
import { changesOf, checksOf, type Cut, logsOf, spansOf } from './telemetry.ts';
import { calm, unseenFaults } from './unseen-faults.ts';
import { between, dependents, whole, type World, worldOf } from './world.ts';

export type Suite = 'known' | 'unseen' | 'calm' | 'withheld';

export interface SimulationOptions {
  readonly suite: Suite;
  /** Share of the edges that nobody knows of. */
  readonly dropEdges?: number;
  readonly fault?: string;
}

const begin = Date.UTC(2026, 0, 5);
const hour = 3_600_000;
const tries = 200;

/**
 * Simulates one incident from a seed, reproducibly. A fault that has no visible effect is replaced
 * by another.
 */
export function simulate(seed: number | string, options: SimulationOptions): Case {
  const name = options.fault ?? nameOf(seeded('rca', options.suite, seed), options.suite);
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const made = attemptOf(seeded('rca', options.suite, seed, attempt), {
      ...options,
      fault: name,
    });
    if (made !== undefined) {
      return { id: `${options.suite}-${seed}`, ...made };
    }
  }
  throw new Error(`seed ${seed} produces no fault that is noticed, after ${tries} tries`);
}

/** A mixture to measure with: of every seed a known fault and one of the unseen, of every second one a calm run, of every fourth one with evidence withheld. */
export function* simulated(from: number, count: number, dropEdges = 0): Generator<Case> {
  for (let seed = from; seed < from + count; seed += 1) {
    yield simulate(seed, { suite: 'known', dropEdges });
    yield simulate(seed, { suite: 'unseen', dropEdges });
    if (seed % 2 === 0) {
      yield simulate(seed, { suite: 'calm', dropEdges });
    }
    if (seed % 4 === 0) {
      yield simulate(seed, { suite: 'withheld', dropEdges });
    }
  }
}

interface Chosen extends SimulationOptions {
  readonly fault: string;
}

function attemptOf(random: Random, options: Chosen): Omit<Case, 'id'> | undefined {
  const world = worldOf(random);
  const fault = tableOf(options.suite)[options.fault]!(random, world);
  const stepMs = pick(random, [60_000, 60_000, 60_000, 30_000]);
  const onset = Math.round((stepMs === 60_000 ? 8.4 : 5) * (hour / stepMs));
  const course: Course = {
    fault,
    stepMs,
    onset,
    steps: onset + Math.round((2 * hour) / stepMs),
    bursts: burstsOf(random, world, fault, onset),
  };
  const signals = run(random, world, course);
  const touched =
    fault.on === 'entries' ? new Set(world.services.keys()) : touchedServices(world, fault);
  const fired = alertOf(random, world, signals, course, touched);
  if (fired === undefined) {
    return undefined;
  }
  const last = Math.min(course.steps - 1, fired.step + whole(random, 0, 4));
  const cut: Cut = {
    first: Math.max(0, fired.step - Math.round((8.25 * hour) / stepMs)),
    last,
    origin: begin + whole(random, 0, 23) * hour,
  };
  const snapshot = fetched(random, { world, course, signals, fired, cut, options });
  const nodes = fault.target < 0 ? [] : rightAnswers(world, fault);
  if (options.suite === 'withheld' && nodes.includes(snapshot.symptom.node!)) {
    return undefined;
  }
  const kind = options.suite === 'withheld' ? 'withheld' : fault.target < 0 ? 'calm' : 'fault';
  return {
    snapshot: kind === 'withheld' ? withhold(snapshot, world, fault) : snapshot,
    truth: {
      kind,
      nodes,
      fault: fault.name,
      categories: fault.categories,
      verdicts: kind === 'withheld' ? ['insufficient_data'] : fault.verdicts,
    },
  };
}

const tableOf = (suite: Suite): Readonly<Record<string, Making>> =>
  suite === 'unseen' ? unseenFaults : suite === 'calm' ? calm : knownFaults;

/** Picks a fault; one that merely stops measurements cannot be withheld as well. */
const nameOf = (random: Random, suite: Suite): string =>
  pick(
    random,
    Object.keys(tableOf(suite)).filter(
      (name) => suite !== 'withheld' || !['metric gap', 'edge offline'].includes(name),
    ),
  );

const rightAnswers = ({ services, hosts }: World, { name, on, target }: Fault): string[] => {
  const own = on === 'host' ? hosts[target]!.id : services[target]!.id;
  // Without a heap to look at, what leaks is seen on its host alone.
  return name === 'memory leak' && !services[target]!.hasHeap
    ? [own, hosts[services[target]!.host]!.id]
    : [own];
};

function burstsOf(
  random: Random,
  { hosts }: World,
  { on, target }: Fault,
  onset: number,
): Course['bursts'] {
  return hosts.flatMap((_, host) => {
    if (random() > 0.12 || (on === 'host' && host === target)) {
      return [];
    }
    const from = onset - whole(random, -3, 60);
    return [
      {
        host,
        from,
        to: from + whole(random, 3, 20),
        cpu: between(random, 10, 45),
        io: between(random, 10, 50),
      },
    ];
  });
}

interface Scene {
  readonly world: World;
  readonly course: Course;
  readonly signals: Signals;
  readonly fired: Fired;
  readonly cut: Cut;
  readonly options: SimulationOptions;
}

function fetched(random: Random, { world, course, signals, fired, cut, options }: Scene): Snapshot {
  const at = (step: number): number => cut.origin + step * course.stepMs;
  const window = { from: at(cut.first), to: at(cut.last) };
  const evidence = new EvidenceList(window);
  const missing: Missing[] = [];
  const series = seriesOf({ world, course, signals, cut }, evidence);
  const symptomNode =
    fired.of === 'service' ? world.services[fired.index]!.id : world.hosts[fired.index]!.id;
  const touched = touchedServices(world, course.fault);
  const simulation = { random, world, signals, course, cut, evidence, touched };
  const kept = <T>(chance: number, kind: Missing['kind'], make: () => T[]): T[] => {
    if (random() < chance) {
      return make();
    }
    missing.push({ kind, source: kind, reason: 'absent', text: `No ${kind}s are collected.` });
    return [];
  };
  const logs = kept(0.8, 'log', () => logsOf(simulation));
  const spans = kept(0.7, 'trace', () => spansOf(simulation));
  const changes = kept(0.9, 'change', () => changesOf(simulation));
  const checks = kept(0.8, 'check', () => checksOf(simulation));
  const edges = edgesOf(world, evidence.add('topology', 'topology', 'relations')).filter(
    () => random() >= (options.dropEdges ?? 0),
  );
  const nodes: Node[] = [
    ...world.services.map(({ id, kind }) => ({ id, kind, name: id })),
    ...world.hosts.map(({ id }) => ({ id, kind: 'host', name: id })),
  ];
  const symptom = {
    node: symptomNode,
    series: `${symptomNode}.${fired.track}`,
    metric: fired.track,
    kind: fired.kind,
    direction: fired.direction,
    labels: {},
    fired_at: at(fired.step),
  };
  return snapshotOf({
    window,
    taken_at: window.to + whole(random, 1, 20) * 1_000,
    symptom,
    nodes,
    edges,
    series,
    logs,
    spans,
    changes,
    checks,
    missing,
    evidence: evidence.items,
  });
}

function touchedServices(world: World, { on, target }: Fault): ReadonlySet<number> {
  const hit = world.services.flatMap((service, at) =>
    (on === 'service' && at === target) || (on === 'host' && service.host === target) ? [at] : [],
  );
  return new Set(hit.flatMap((at) => [...dependents(world, at)]));
}

type TrackKind = readonly [
  track: string,
  kind: Series['kind'],
  unit: Series['unit'],
  worse?: 'up' | 'down' | 'either',
];

const serviceTracks: readonly TrackKind[] = [
  ['rate', 'rate', 'per_second', 'either'],
  ['errors', 'error_ratio', 'ratio'],
  ['latency', 'latency', 'seconds'],
  ['heap', 'memory', 'bytes'],
  ['pool', 'other', 'ratio'],
];
const hostTracks: readonly TrackKind[] = [
  ['cpu', 'cpu', 'percent'],
  ['memory', 'memory', 'percent'],
  ['disk', 'disk', 'percent'],
  ['io', 'disk', 'percent'],
  ['traffic', 'network', 'bytes', 'either'],
  ['retransmits', 'network', 'ratio'],
  ['load', 'load', 'count'],
  ['temperature', 'other', 'other'],
];

function seriesOf(
  { world, course, signals, cut }: Pick<Scene, 'world' | 'course' | 'signals' | 'cut'>,
  evidence: EvidenceList,
): Series[] {
  const from = cut.origin + cut.first * course.stepMs;
  const of = (
    node: string,
    tracks: Readonly<Record<string, readonly (number | null)[]>>,
    kinds: readonly TrackKind[],
  ): Series[] => {
    const source = evidence.add('metric', 'metrics', `{node="${node}"}`);
    return kinds.map(([track, kind, unit, worse]) => {
      const values = tracks[track]!.slice(cut.first, cut.last + 1);
      return {
        id: `${node}.${track}`,
        evidence: source,
        node,
        metric: track,
        kind,
        unit,
        ...(worse && { worse }),
        from,
        step_ms: course.stepMs,
        values,
      };
    });
  };
  return [
    ...world.services.flatMap(({ id, hasHeap, hasPool }, at) =>
      of(
        id,
        { ...signals.services[at]! },
        serviceTracks.filter(
          ([track]) => (track !== 'heap' || hasHeap) && (track !== 'pool' || hasPool),
        ),
      ),
    ),
    ...world.hosts.flatMap(({ id }, at) => of(id, { ...signals.hosts[at]! }, hostTracks)),
  ];
}

function edgesOf({ services, hosts }: World, evidence: string): Edge[] {
  return services.flatMap(({ id, host, calls }) => [
    ...calls.map(({ to }): Edge => ({
      from: id,
      to: services[to]!.id,
      relation: 'calls',
      origin: 'trace',
      evidence,
    })),
    { from: id, to: hosts[host]!.id, relation: 'runs_on', origin: 'topology', evidence },
  ]);
}

/**
 * Removes what would show the cause: all of its own evidence, and that of its host. Its effect on
 * others stays.
 */
function withhold(snapshot: Snapshot, { services, hosts }: World, { on, target }: Fault): Snapshot {
  const host = on === 'host' ? target : services[target]!.host;
  const hidden = new Set([
    hosts[host]!.id,
    ...services.flatMap(({ id, host: where }, at) =>
      (at === target && on === 'service') ||
      (on === 'host' && where === host && id !== snapshot.symptom.node)
        ? [id]
        : [],
    ),
  ]);
  const gone = new Set(
    [...snapshot.series, ...snapshot.logs, ...snapshot.spans, ...snapshot.checks]
      .filter(({ node }) => hidden.has(node))
      .map(({ evidence }) => evidence),
  );
  const nodeOf = new Map(
    [...snapshot.series, ...snapshot.logs, ...snapshot.spans, ...snapshot.checks].map(
      ({ evidence, node }) => [evidence, node],
    ),
  );
  const stays = ({ evidence }: { readonly evidence: string }): boolean => !gone.has(evidence);
  return {
    ...snapshot,
    series: snapshot.series.filter(stays),
    logs: snapshot.logs.filter(stays),
    spans: snapshot.spans.filter(stays),
    checks: snapshot.checks.filter(stays),
    changes: snapshot.changes.filter(({ node }) => node === undefined || !hidden.has(node)),
    evidence: snapshot.evidence.filter(({ id }) => !gone.has(id)),
    missing: [
      ...snapshot.missing,
      ...snapshot.evidence
        .filter(({ id }) => gone.has(id))
        .map(({ id, kind, source }): Missing => ({
          kind,
          source,
          node: nodeOf.get(id)!,
          reason: 'timeout',
          text: `${source} of ${nodeOf.get(id)!} did not come in time.`,
        })),
    ],
  };
}
