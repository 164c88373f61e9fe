import { pick, type Random, seeded } from 'svc/seeded';

import { type Alert, alertsOf, beforeAndAfter, tightAlerts } from './alert.ts';
import type { WorldKind } from './world/world-kind.ts';
import type { Fault } from './world/fault.ts';
import { faults } from './world/faults.ts';
import { type Course, live } from './world/life.ts';
import { type Stream, streamsOf } from './log-lines.ts';
import { exposed } from './metrics/expose.ts';
import type { Samples } from './metrics/samples.ts';
import { componentNames, hostNames, namesOf, Told } from './names.ts';
import { exposeCounted } from './metrics/span-metrics.ts';
import { provisioned } from './world/provision.ts';
import type { Scene } from './world/scene.ts';
import { traced } from './spans.ts';
import { between, chance, type Component, whole, type World, worldOf } from './world/world.ts';

/** One change as a pipeline posts it. */
export interface PostedChange {
  readonly summary: string;
  readonly kind: 'deploy' | 'config';
  readonly service: string;
  readonly version?: string;
  readonly at: string;
}

/** Right answers and decoys, with all names that each goes by. */
export interface WorldTruth {
  /** `calm`: nothing is broken, though a rule fires. */
  readonly fault: string;
  readonly causes: readonly Cause[];
  readonly decoys: readonly (readonly string[])[];
  readonly symptom: readonly string[];
  /** Names of who depends on whom. */
  readonly edges: readonly (readonly [from: readonly string[], to: readonly string[]])[];
}

export interface Cause {
  readonly kind: string;
  readonly said: RegExp;
  /** Names of every entity that is a right answer. */
  readonly names: readonly string[];
}

/** A world as it is told to svc, with the alert and the truth. */
export interface MadeWorld {
  readonly seed: number;
  readonly kind: WorldKind;
  readonly end: number;
  readonly metrics: Samples;
  readonly logs: readonly Stream[];
  readonly spans: readonly object[];
  readonly changes: readonly PostedChange[];
  readonly topology: {
    readonly nodes: readonly { readonly type: string; readonly name: string }[];
    readonly relations: readonly (readonly [from: string, to: string, type: string])[];
  };
  readonly alert: Alert;
  readonly truth: WorldTruth;
  /** Group of the table: the data that it sends. */
  readonly sees: string;
}

const tries = 60;

/**
 * Makes a world from a seed, reproducibly but for its end, which is `end`: a rule of svc fires when it is evaluated. A fault that
 * nobody notices is replaced by another.
 */
export function makeWorld(seed: number, kind: WorldKind, end: number): MadeWorld {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const made = attemptOf(seeded('foreign world', kind, seed, attempt), { seed, kind, end });
    if (made !== undefined) {
      return made;
    }
  }
  throw new Error(`seed ${seed} makes no world whose fault is noticed, after ${tries} tries`);
}

interface Wanted {
  readonly seed: number;
  readonly kind: WorldKind;
  readonly end: number;
}

function attemptOf(random: Random, { seed, kind, end }: Wanted): MadeWorld | undefined {
  const world = provisioned(worldOf(random, kind));
  const { steps, stepMs } = world.vocabulary;
  // Of ten worlds one is calm; of the others one in twelve has two faults.
  const isCalm = seed % 10 === 7;
  const count = isCalm ? 0 : seed % 12 === 5 ? 2 : 1;
  const struck = struckIn(random, world, seed, count);
  if (struck === undefined) {
    return undefined;
  }
  const busy = chance(random, 0.35) ? busyHosts(random, world, struck) : [];
  const course: Course = {
    steps,
    stepMs,
    faults: struck,
    busy: busy.map((host) => ({ host, from: Math.max(0, steps - whole(random, 4, 40)) })),
    ...(isCalm &&
      chance(random, 0.4) && {
        surge: { from: steps - whole(random, 5, 20), by: between(random, 1.3, 1.6) },
      }),
  };
  const lives = live(random, world, course);
  const scene: Scene = { world, lives, course, random, end };
  const logs = streamsOf(scene);
  const candidates = isCalm ? tightAlerts(scene, kind, logs) : alertsOf(scene, kind, logs);
  if (
    candidates.length === 0 ||
    (count === 2 &&
      !bothAreFelt(
        scene,
        struck.map(({ fault }) => fault),
      ))
  ) {
    return undefined;
  }
  // People write rules where their customers come in, more than deep inside.
  const hit = new Set(struck.flatMap(({ fault }) => fault.components));
  const outside = candidates.filter(({ symptom }) => !hit.has(symptom));
  const alert = pick(random, outside.length > 0 && chance(random, 0.8) ? outside : candidates);
  const spans = traced(scene);
  const samples = exposed(scene, kind === 'metrics' || kind === 'mixed');
  exposeCounted(samples, spans.counts);
  const decoy = chance(random, 0.45) ? decoyDeploy(random, scene, struck) : undefined;
  const changes = changesOf(random, scene, decoy);
  const topology = world.vocabulary.topology ? drawn(world) : { nodes: [], relations: [] };
  const told = new Told(samples, logs, spans.exports, topology);
  const truth = truthOf(scene, {
    told,
    alert,
    decoys: [
      ...busy.map((host) => hostNames(world, host)),
      ...(decoy === undefined || changes.length === 0 ? [] : [componentNames(world, decoy)]),
    ],
  });
  // Nobody can name what nothing has a name for.
  if (truth.causes.some(({ names }) => !names.some((name) => told.names(name)))) {
    return undefined;
  }
  const { vocabulary } = world;
  return {
    seed,
    kind,
    end,
    metrics: samples,
    logs,
    spans: spans.exports,
    changes,
    topology,
    alert,
    truth,
    sees:
      kind === 'metrics'
        ? vocabulary.hostMetrics || vocabulary.storeMetrics
          ? 'with exporters'
          : 'services alone'
        : kind,
  };
}

/** Draws faults that have nothing in common; nothing where the world has no place for one of them. */
function struckIn(
  random: Random,
  world: World,
  seed: number,
  count: number,
): Course['faults'] | undefined {
  const { steps, stepMs } = world.vocabulary;
  const names = Object.keys(faults);
  const struck: Course['faults'][number][] = [];
  for (let at = 0; at < count; at += 1) {
    const name =
      at === 0 ? names[(seed * 7 + whole(random, 0, 2)) % names.length]! : pick(random, names);
    const fault = faults[name]!(random, world);
    if (fault === undefined || struck.some((other) => overlap(other.fault, fault))) {
      return undefined;
    }
    struck.push({ fault, onset: onsetOf(random, fault, steps, stepMs) });
  }
  return struck;
}

function truthOf(
  scene: Scene,
  {
    told,
    alert,
    decoys,
  }: {
    readonly told: Told;
    readonly alert: Alert;
    readonly decoys: WorldTruth['decoys'];
  },
): WorldTruth {
  const { world, course } = scene;
  const struck = course.faults.map(({ fault }) => fault);
  const namesAt = (id: number): readonly string[] => componentNames(world, world.components[id]!);
  return {
    fault: struck.length === 0 ? 'calm' : struck.length === 2 ? 'two faults' : struck[0]!.kind,
    causes: struck.map((fault) => ({
      kind: fault.kind,
      said: fault.said,
      names: namesOf(scene, fault, told),
    })),
    decoys,
    symptom: namesAt(alert.symptom),
    edges: [
      ...world.calls.map(({ from, to }) => [namesAt(from), namesAt(to)] as const),
      ...world.components.flatMap(({ id, instances }) =>
        instances.map(({ host }) => [namesAt(id), hostNames(world, host)] as const),
      ),
    ],
  };
}

function onsetOf(random: Random, fault: Fault, steps: number, stepMs: number): number {
  const [low, high] =
    fault.kind === 'memory leak' || fault.kind === 'queue backlog' ? [15, 25] : [4, 12];
  const minutes = between(random, low, high);
  return Math.max(
    Math.floor(steps / 3),
    steps - Math.max(6, Math.ceil((minutes * 60_000) / stepMs)),
  );
}

const overlap = (one: Fault, other: Fault): boolean =>
  one.components.some((id) => other.components.includes(id)) ||
  one.hosts.some((host) => other.hosts.includes(host)) ||
  one.kind === other.kind;

/** True if each of two faults harms a service by itself. */
const bothAreFelt = (scene: Scene, two: readonly Fault[]): boolean =>
  two.every(({ components }) =>
    components.some((id) => {
      const { errors, mean } = scene.lives.components[id]!;
      const failing = beforeAndAfter(scene, errors);
      const slow = beforeAndAfter(scene, mean);
      return failing.after > failing.before + 0.1 || slow.after > slow.before * 2;
    }),
  );

function busyHosts(
  random: Random,
  { machines, components }: World,
  struck: Course['faults'],
): readonly number[] {
  const hit = new Set(
    struck.flatMap(({ fault }) => [
      ...fault.hosts,
      ...fault.components.flatMap((id) => components[id]!.instances.map(({ host }) => host)),
    ]),
  );
  const free = machines.map((_, host) => host).filter((host) => !hit.has(host));
  return free.length === 0 ? [] : [pick(random, free)];
}

/** A service that is not on the way from a cause to anything: its deploy is at the same time, and does nothing. */
function decoyDeploy(
  random: Random,
  { world, lives, course }: Scene,
  struck: Course['faults'],
): Component | undefined {
  const causes = new Set(struck.flatMap(({ fault }) => fault.components));
  const well = world.components.filter(
    ({ id, role }) =>
      role === 'service' &&
      !causes.has(id) &&
      lives.components[id]!.errors[course.steps - 1]! < 0.03 &&
      !world.entries.includes(id),
  );
  return well.length === 0 ? undefined : pick(random, well);
}

function changesOf(
  random: Random,
  { world, course, end }: Scene,
  decoy: Component | undefined,
): readonly PostedChange[] {
  if (!world.vocabulary.changes) {
    return [];
  }
  const at = (step: number): string =>
    new Date(end - (course.steps - 1 - step) * course.stepMs).toISOString();
  const changes: PostedChange[] = course.faults.flatMap(({ fault, onset }) =>
    fault.change === undefined
      ? []
      : [
          {
            summary: fault.change.summary,
            kind: fault.change.kind,
            service: world.components[fault.change.component]!.name,
            at: at(onset),
          },
        ],
  );
  if (decoy !== undefined) {
    const onset = course.faults[0]?.onset ?? course.steps - 5;
    changes.push({
      summary: `${decoy.name} ${decoy.version} was rolled out`,
      kind: 'deploy',
      service: decoy.name,
      version: decoy.version,
      at: at(onset - whole(random, 0, 2)),
    });
  }
  return changes;
}

function drawn(world: World): MadeWorld['topology'] {
  const types: Readonly<Record<string, string>> = {
    service: 'service',
    external: 'service',
    batch: 'app',
    resolver: 'app',
  };
  const typeOf = ({ role, engine }: Component): string =>
    role === 'store'
      ? engine === 'rabbitmq' || engine === 'kafka'
        ? 'queue'
        : 'database'
      : types[role]!;
  return {
    nodes: [
      ...world.components.map((component) => ({ type: typeOf(component), name: component.name })),
      ...world.machines.map(({ name }) => ({ type: 'host', name })),
    ],
    relations: [
      ...world.calls.map(
        ({ from, to }) =>
          [world.components[from]!.name, world.components[to]!.name, 'depends_on'] as const,
      ),
      ...world.components.flatMap(({ name, instances }) =>
        [...new Set(instances.map(({ host }) => host))].map(
          (host) => [name, world.machines[host]!.name, 'runs_on'] as const,
        ),
      ),
    ],
  };
}
