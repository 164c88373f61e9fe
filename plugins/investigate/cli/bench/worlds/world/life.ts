import type { Random } from 'svc/seeded';

import type { Fault, Pressures } from './fault.ts';
import { isQueue, type World } from './world.ts';

/** State of one component, step by step. */
export interface Life {
  readonly rate: Float64Array;
  /** Share of requests that fail, and of those that it fails by itself. */
  readonly errors: Float64Array;
  readonly own: Float64Array;
  /** Seconds of a request, and of its own work for it. */
  readonly mean: Float64Array;
  readonly self: Float64Array;
  /** Cores in use by all instances. */
  readonly cpu: Float64Array;
  /** Bytes of one instance. */
  readonly memory: Float64Array;
  /** 0 where its process is not there. */
  readonly up: Float64Array;
  readonly restarts: Float64Array;
  readonly throttled: Float64Array;
  readonly locks: Float64Array;
  readonly poolUsed: Float64Array;
  readonly poolWaiting: Float64Array;
  readonly misses: Float64Array;
  /** Messages that wait, of a queue. */
  readonly depth: Float64Array;
}

export interface CallLife {
  readonly rate: Float64Array;
  readonly errors: Float64Array;
  readonly mean: Float64Array;
}

export interface HostLife {
  readonly cpu: Float64Array;
  readonly disk: Float64Array;
  readonly diskBusy: Float64Array;
  readonly diskSlow: Float64Array;
  readonly retransmits: Float64Array;
  readonly memory: Float64Array;
}

export interface Lives {
  readonly components: readonly Life[];
  readonly calls: readonly CallLife[];
  readonly hosts: readonly HostLife[];
}

export interface Course {
  readonly steps: number;
  readonly stepMs: number;
  readonly faults: readonly { readonly fault: Fault; readonly onset: number }[];
  /** Hosts that are busy from a step on, and hurt nobody. */
  readonly busy: readonly { readonly host: number; readonly from: number }[];
  /** Times the usual traffic from a step on; a calm world may have it. */
  readonly surge?: { readonly from: number; readonly by: number };
}

/** Lets a world live: traffic flows from the entries down, time and failures come back up. */
export function live(random: Random, world: World, course: Course): Lives {
  const { steps } = course;
  const track = (): Float64Array => new Float64Array(steps);
  const lives: Lives = {
    components: world.components.map(() => ({
      rate: track(),
      errors: track(),
      own: track(),
      mean: track(),
      self: track(),
      cpu: track(),
      memory: track(),
      up: track(),
      restarts: track(),
      throttled: track(),
      locks: track(),
      poolUsed: track(),
      poolWaiting: track(),
      misses: track(),
      depth: track(),
    })),
    calls: world.calls.map(() => ({ rate: track(), errors: track(), mean: track() })),
    hosts: world.machines.map(() => ({
      cpu: track(),
      disk: track(),
      diskBusy: track(),
      diskSlow: track(),
      retransmits: track(),
      memory: track(),
    })),
  };
  const walks = world.components.map(() => new Walk(random, world.vocabulary.noise));
  const hostWalks = world.machines.map(() => new Walk(random, world.vocabulary.noise));
  const phase = random() * 2 * Math.PI;
  for (let step = 0; step < steps; step += 1) {
    const pressures = calm(world);
    for (const { fault, onset } of course.faults) {
      const since = step - onset;
      if (since >= 0 || fault.kind === 'full disk') {
        const strength =
          since < 0
            ? 0
            : fault.ramp === 'slow'
              ? Math.min(1, (since + 1) / Math.max(1, steps - onset))
              : Math.min(1, (since + 1) / 2);
        fault.press(pressures, strength, since);
      }
    }
    const hours = (step * course.stepMs) / 3_600_000;
    const daily = 1 + 0.25 * Math.sin(phase + (2 * Math.PI * hours) / 24);
    const surge = course.surge !== undefined && step >= course.surge.from ? course.surge.by : 1;
    flow(world, lives, step, { pressures, daily: daily * surge, walks });
    crowd(world, lives, step, { pressures, course, hostWalks });
    answer(world, lives, step, { pressures, walks, stepMs: course.stepMs });
  }
  return lives;
}

/** Noise with a memory, as load has it. */
class Walk {
  readonly #random: Random;
  readonly #size: number;
  #at = 0;

  constructor(random: Random, size: number) {
    this.#random = random;
    this.#size = size;
  }

  next(): number {
    this.#at = 0.6 * this.#at + this.#size * (this.#random() + this.#random() - 1);
    return Math.max(0.3, 1 + this.#at);
  }
}

const calm = (world: World): Pressures => ({
  components: world.components.map(() => ({
    slow: 1,
    fail: 0,
    refuse: 0,
    gone: false,
    cpu: 1,
    memory: 0,
    throttle: 0,
    locks: 0,
    held: 0,
    misses: 0,
    consumes: 1,
    restart: false,
  })),
  hosts: world.machines.map(() => ({ cpu: 0, disk: 0, diskSlow: 1, retransmits: 0 })),
  calls: world.calls.map(() => ({ loss: 0, late: 0 })),
});

interface Now {
  readonly pressures: Pressures;
  readonly walks: readonly Walk[];
}

function flow(
  { components, calls, entries, traffic, order }: World,
  lives: Lives,
  step: number,
  { pressures, daily, walks }: Now & { readonly daily: number },
): void {
  entries.forEach(
    (id, at) =>
      (lives.components[id]!.rate[step]! +=
        traffic[at]! * daily * walks[id]!.next() * (1 - pressures.components[id]!.refuse)),
  );
  for (const id of order) {
    const { rate } = lives.components[id]!;
    // What is gone asks nobody.
    const asks = rate[step]! * (pressures.components[id]!.fail > 0.3 ? 0.7 : 1);
    const misses = cacheMisses(calls, components, pressures, id);
    calls.forEach((call, at) => {
      if (call.from === id) {
        const target = components[call.to]!;
        const more =
          target.role === 'store' && target.engine !== 'redis' && !isQueue(target.engine)
            ? 1 + 5 * misses
            : 1;
        const made = asks * call.perRequest * more;
        lives.calls[at]!.rate[step] = made;
        // Who refuses a connection counts no request.
        lives.components[call.to]!.rate[step]! += call.isAsync
          ? 0
          : made * (1 - pressures.components[call.to]!.refuse);
      }
    });
  }
}

/** Share of its reads from caches that now go to a store. */
const cacheMisses = (
  calls: World['calls'],
  components: World['components'],
  pressures: Pressures,
  id: number,
): number =>
  Math.max(
    0,
    ...calls
      .filter(({ from, to }) => from === id && components[to]!.engine === 'redis')
      .map(({ to }) => pressures.components[to]!.misses),
  );

function crowd(
  world: World,
  lives: Lives,
  step: number,
  {
    pressures,
    course,
    hostWalks,
  }: {
    readonly pressures: Pressures;
    readonly course: Course;
    readonly hostWalks: readonly Walk[];
  },
): void {
  const used = world.machines.map(
    ({ idleCpu }, host) => idleCpu * hostWalks[host]!.next() + pressures.hosts[host]!.cpu,
  );
  const memory = world.machines.map(() => 0.2);
  world.components.forEach((component) => {
    const life = lives.components[component.id]!;
    const { cpu, memory: more } = pressures.components[component.id]!;
    const load = component.role === 'batch' ? 0.05 * cpu : life.rate[step]! * component.cpu * cpu;
    life.cpu[step] = load + 0.005;
    life.memory[step] = component.memory * (1 + 0.02 * Math.sin(step / 17 + component.id)) + more;
    component.instances.forEach(({ host }) => {
      const machine = world.machines[host]!;
      used[host]! +=
        component.role === 'batch' ? 0 : load / component.instances.length / machine.cores;
      memory[host]! += life.memory[step]! / machine.memory;
    });
  });
  world.machines.forEach(({ diskUsed }, host) => {
    const life = lives.hosts[host]!;
    const { disk, diskSlow, retransmits } = pressures.hosts[host]!;
    const isBusy = course.busy.some((one) => one.host === host && step >= one.from);
    life.cpu[step] = isBusy
      ? Math.max(0.8, Math.min(0.84, used[host]!))
      : Math.min(0.995, used[host]!);
    life.disk[step] = disk > 0 ? 1 : diskUsed + 0.000_02 * step;
    // A disk that is full has filled up before.
    const full = course.faults.find(
      ({ fault }) => fault.kind === 'full disk' && fault.hosts.includes(host),
    );
    if (full !== undefined) {
      const left = Math.max(0, full.onset - step) / Math.max(1, full.onset);
      life.disk[step] = step >= full.onset ? 1 : 1 - (1 - diskUsed) * left;
    }
    life.diskSlow[step] = diskSlow;
    life.diskBusy[step] = Math.min(
      1,
      (0.06 + 0.2 * used[host]!) * (1 + 0.6 * (diskSlow - 1)) * hostWalks[host]!.next(),
    );
    life.retransmits[step] = (0.5 + retransmits) * hostWalks[host]!.next();
    life.memory[step] = Math.min(0.97, memory[host]!);
  });
}

/** Computes answers from those that call nobody up to the entries. */
function answer(
  world: World,
  lives: Lives,
  step: number,
  { pressures, walks, stepMs }: Now & { readonly stepMs: number },
): void {
  for (const id of [...world.order].reverse()) {
    const component = world.components[id]!;
    const life = lives.components[id]!;
    const mine = pressures.components[id]!;
    const hosts = component.instances.map(({ host }) => lives.hosts[host]!);
    const crowded =
      hosts.length === 0 ? 0 : mean(hosts.map(({ cpu }) => Math.max(0, cpu[step]! - 0.85) / 0.15));
    const isDiskBound = component.role === 'store' && component.engine !== 'redis';
    const disk = isDiskBound ? mean(hosts.map(({ diskSlow }) => diskSlow[step]!)) : 1;
    const used = life.cpu[step]! / Math.max(1, component.instances.length) / component.cpuLimit;
    const over = Math.max(0, used - 0.8);
    life.self[step] =
      component.self *
      walks[id]!.next() *
      mine.slow *
      disk *
      (1 + 7 * crowded + 8 * over + 10 * mine.throttle);
    let seconds = life.self[step];
    let right = 1 - Math.min(1, component.flaws * walks[id]!.next() + mine.fail);
    life.own[step] = 1 - right;
    let waits = 0;
    world.calls.forEach((call, at) => {
      if (call.from !== id || call.isAsync) {
        return;
      }
      const made = lives.calls[at]!;
      const other = lives.components[call.to]!;
      const { loss, late } = pressures.calls[at]!;
      const away = Math.min(1, pressures.components[call.to]!.refuse + loss);
      const asked = other.mean[step]! + late;
      const late2 = Math.min(0.95, Math.max(0, asked / call.timeout - 0.5));
      made.mean[step] =
        Math.min(call.timeout, asked) * (1 - 0.9 * pressures.components[call.to]!.refuse);
      made.errors[step] = 1 - (1 - other.errors[step]!) * (1 - away) * (1 - late2);
      // What it asks for is not wholly in a row.
      seconds += Math.min(1.5, call.perRequest) * made.mean[step];
      right *= 1 - Math.min(1, call.matters * made.errors[step] * Math.min(1, call.perRequest));
      waits += world.components[call.to]!.role === 'store' ? made.rate[step]! * made.mean[step] : 0;
    });
    life.mean[step] = seconds;
    life.errors[step] = Math.min(1, 1 - right);
    life.up[step] = mine.gone ? 0 : 1;
    life.restarts[step] = (step === 0 ? 0 : life.restarts[step - 1]!) + (mine.restart ? 1 : 0);
    life.throttled[step] = Math.min(1, mine.throttle + 0.5 * over + 0.01 * walks[id]!.next());
    life.locks[step] = mine.locks;
    life.misses[step] = mine.misses;
    const wanted = waits / Math.max(1, component.instances.length) + mine.held * component.poolMax;
    life.poolUsed[step] = Math.min(component.poolMax, wanted + 0.5);
    life.poolWaiting[step] = Math.max(0, wanted - component.poolMax) + mine.held * 12;
    if (isQueue(component.engine)) {
      life.depth[step] = queued(world, lives, step, id, pressures, stepMs);
      life.rate[step] = asyncInto(world, lives, step, id);
    }
  }
}

const asyncInto = ({ calls }: World, lives: Lives, step: number, queue: number): number => {
  const producer = calls.findIndex(({ to, isAsync }) => isAsync && to === queue);
  return producer === -1 ? 0 : lives.calls[producer]!.rate[step]!;
};

/** Returns the messages that were there and those that come in, less those that the consumer, the second that is drawn, takes out. */
function queued(
  world: World,
  lives: Lives,
  step: number,
  queue: number,
  pressures: Pressures,
  stepMs: number,
): number {
  const [, consumer] = world.calls.filter(({ to, isAsync }) => isAsync && to === queue);
  const before = step === 0 ? 3 : lives.components[queue]!.depth[step - 1]!;
  const comes = (asyncInto(world, lives, step, queue) * stepMs) / 1_000;
  const takes =
    consumer === undefined
      ? 1
      : pressures.components[consumer.from]!.consumes *
        (1 - pressures.components[consumer.from]!.refuse);
  const room = (comes * 1.6 + 5) * Math.min(1, takes);
  return Math.max(2, before + comes - room);
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 1 : values.reduce((sum, value) => sum + value, 0) / values.length;
