import type { Random } from 'svc/seeded';
import type { Fault, Strain } from './fault.ts';
import { between, type Host, normal, type World } from './world.ts';

/** Measurements of everything, one value per step; null where there is none. */
export interface Signals {
  readonly services: readonly ServiceSignals[];
  readonly hosts: readonly HostSignals[];
}

type Track = (number | null)[];

export interface ServiceSignals {
  readonly rate: Track;
  readonly errors: Track;
  readonly latency: Track;
  readonly heap: Track;
  readonly pool: Track;
  /** Seconds it took itself, and the share of requests that failed by its own doing: what traces tell. */
  readonly self: Track;
  readonly own: Track;
}

export interface HostSignals {
  readonly cpu: Track;
  readonly memory: Track;
  readonly disk: Track;
  readonly io: Track;
  readonly traffic: Track;
  readonly retransmits: Track;
  readonly load: Track;
  readonly temperature: Track;
}

export interface Course {
  readonly steps: number;
  readonly onset: number;
  readonly stepMs: number;
  readonly fault: Fault;
  /** Backups and the like, that have nothing to do with it. */
  readonly bursts: readonly {
    readonly host: number;
    readonly from: number;
    readonly to: number;
    readonly cpu: number;
    readonly io: number;
  }[];
}

const share = (value: number): number => Math.max(0, Math.min(1, value));
const percent = (value: number): number => Math.max(0, Math.min(100, value));
const none: Strain = {};

/**
 * Runs the world step by step: load propagates down along calls, delay and failure up, contention
 * across hosts.
 */
export function run(random: Random, world: World, course: Course): Signals {
  const { services, hosts } = world;
  const signals = emptySignals(world);
  const season = {
    phase: random() * 2 * Math.PI,
    height: between(random, 0.1, 0.4),
    entry: services.map(() => between(random, 20, 120)),
  };
  let before = {
    errors: services.map(() => 0),
    latency: services.map(() => 0),
    waiting: services.map(({ latency }) => latency),
  };
  for (let step = 0; step < course.steps; step += 1) {
    const strain = step >= course.onset ? course.fault.strain(step - course.onset) : none;
    const ofService = (at: number): Strain =>
      course.fault.on === 'service' && course.fault.target === at ? strain : none;
    const ofHost = (at: number): Strain =>
      course.fault.on === 'host' && course.fault.target === at ? strain : none;
    const daily =
      1 +
      season.height * Math.sin(season.phase + (2 * Math.PI * step * course.stepMs) / 86_400_000);
    const rates = ratesOf(random, world, {
      daily,
      entry: season.entry,
      traffic: course.fault.on === 'entries' ? (strain.traffic ?? 1) : 1,
      before: before.errors,
      ofService,
      ofHost,
    });
    const busy = hosts.map((host, at) =>
      hostStep(random, host, at, {
        world,
        rates,
        strain: ofHost(at),
        faulty:
          course.fault.on === 'service' && services[course.fault.target]?.host === at
            ? strain
            : none,
        bursts: course.bursts,
        step,
      }),
    );
    const now = answersOf(random, world, { rates, busy, before, ofService, ofHost });
    before = now;
    record(random, signals, world, { rates, busy, now, ofService, ofHost });
  }
  return signals;
}

function emptySignals({ services, hosts }: World): Signals {
  return {
    services: services.map(() => ({
      rate: [],
      errors: [],
      latency: [],
      heap: [],
      pool: [],
      self: [],
      own: [],
    })),
    hosts: hosts.map(() => ({
      cpu: [],
      memory: [],
      disk: [],
      io: [],
      traffic: [],
      retransmits: [],
      load: [],
      temperature: [],
    })),
  };
}

type Of = (at: number) => Strain;

interface Load {
  readonly daily: number;
  readonly entry: readonly number[];
  readonly traffic: number;
  readonly before: readonly number[];
  readonly ofService: Of;
  readonly ofHost: Of;
}

/** A request that failed early does not get as far as the services below. */
function ratesOf(
  random: Random,
  { services }: World,
  { daily, entry, traffic, before, ofService, ofHost }: Load,
): number[] {
  const rates = services.map(({ layer, noise }, at) =>
    layer === 0 ? entry[at]! * daily * traffic * Math.exp(noise * normal(random)) : 0,
  );
  services.forEach(({ calls, host }, at) => {
    const { down, refuses, errors } = ofService(at);
    const onward =
      down || refuses || ofHost(host).down ? 0 : 1 - 0.5 * share((errors ?? 0) + before[at]! * 0.3);
    calls.forEach(({ to, share: portion }) => {
      rates[to]! += rates[at]! * portion * onward;
    });
    if (down || refuses || ofHost(host).down) {
      rates[at] = 0;
    }
  });
  return rates;
}

interface Busy {
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
  readonly io: number;
  readonly loss: number;
  readonly slowdown: number;
  readonly throttle: number;
}

interface Around {
  readonly world: World;
  readonly rates: readonly number[];
  readonly strain: Strain;
  readonly faulty: Strain;
  readonly bursts: Course['bursts'];
  readonly step: number;
}

function hostStep(
  random: Random,
  host: Host,
  at: number,
  { world, rates, strain, faulty, bursts, step }: Around,
): Busy {
  const burst = bursts.filter(
    ({ host: where, from, to }) => where === at && step >= from && step <= to,
  );
  const work = world.services.reduce(
    (sum, service, index) => sum + (service.host === at ? service.cost * rates[index]! : 0),
    0,
  );
  const throttle = strain.throttle ?? 1;
  const busy = host.cpu + work * Math.min(throttle, 2) + (strain.cpu ?? 0);
  const cpu = percent(busy + upTo(60, busy, burst, 'cpu') + 1.5 * normal(random));
  const memory = percent(
    host.memory + (strain.memory ?? 0) + (faulty.memory ?? 0) + 0.4 * normal(random),
  );
  const disk = percent(host.disk + step * 0.001 + (strain.disk ?? 0));
  const waits = host.io + (strain.io ?? 0);
  const io = percent(
    waits + upTo(55, waits, burst, 'io') + 1.5 * normal(random) + (memory > 97 ? 40 : 0),
  );
  const over = (value: number, limit: number): number =>
    Math.max(0, (value - limit) / (100 - limit)) ** 1.5;
  const slowdown =
    1 +
    host.strain * (1.5 * over(cpu, 75) + 2.5 * over(memory, 92) + over(io, 70)) +
    (throttle - 1);
  return { cpu, memory, disk, io, loss: strain.loss ?? 0, slowdown, throttle };
}

/** Innocent work never takes so much that anything else would feel it. */
const upTo = (
  limit: number,
  already: number,
  burst: Course['bursts'],
  what: 'cpu' | 'io',
): number =>
  Math.max(
    0,
    Math.min(
      limit - already,
      burst.reduce((sum, one) => sum + one[what], 0),
    ),
  );

interface Answers {
  readonly errors: number[];
  readonly latency: number[];
  readonly waiting: number[];
}

interface AnswerNow {
  readonly rates: readonly number[];
  readonly busy: readonly Busy[];
  readonly before: Answers;
  readonly ofService: Of;
  readonly ofHost: Of;
}

/**
 * Returns the answers of services, bottom up: what a service does itself, plus what comes from
 * below.
 */
function answersOf(
  random: Random,
  { services }: World,
  { busy, before, ofService, ofHost }: AnswerNow,
): Answers & { readonly own: number[] } {
  const errors = services.map(() => 0);
  const latency = services.map(() => 0);
  const waiting = services.map(() => 0);
  const own = services.map(() => 0);
  for (let at = services.length - 1; at >= 0; at -= 1) {
    const service = services[at]!;
    const here = busy[service.host]!;
    const strain = ofService(at);
    const below = ofHost(service.host);
    const fails = share(
      service.errors +
        (strain.errors ?? 0) +
        (below.errors ?? 0) +
        here.loss * 0.5 +
        (below.writesFail ? 0.4 : 0) +
        Math.max(0, here.slowdown - 5) * 0.02,
    );
    const self =
      service.latency *
        here.slowdown *
        (strain.slower ?? 1) *
        Math.exp(service.noise * normal(random)) +
      (strain.added ?? 0) +
      here.loss * 2 * (0.5 + random());
    let through = 1 - fails;
    let wait = self;
    let reached = 1 - fails;
    for (const { to, share: portion, passes, lag } of service.calls) {
      const late = lag > 0;
      const unreachable =
        ofService(to).down || ofService(to).refuses || ofHost(services[to]!.host).down;
      const theirs = unreachable ? 1 : late ? before.errors[to]! : errors[to]!;
      const passed = 1 - share(theirs * passes * Math.min(1, portion));
      through *= passed;
      // A call that reaches nothing has no span on the other side, so its error begins here.
      reached *= unreachable ? passed : 1;
      wait +=
        (unreachable ? 0.05 : late ? before.latency[to]! : latency[to]!) * Math.min(1, portion);
    }
    own[at] = 1 - reached;
    waiting[at] = self;
    errors[at] = share(1 - through);
    latency[at] = wait;
  }
  return { errors, latency, waiting, own };
}

interface Measured {
  readonly rates: readonly number[];
  readonly busy: readonly Busy[];
  readonly now: Answers & { readonly own: number[] };
  readonly ofService: Of;
  readonly ofHost: Of;
}

/** Simulates scraping: noise, occasional misses, and nothing from what is down or disconnected. */
function record(
  random: Random,
  signals: Signals,
  { services, hosts }: World,
  { rates, busy, now, ofService, ofHost }: Measured,
): void {
  services.forEach((service, at) => {
    const track = signals.services[at]!;
    const strain = ofService(at);
    const dark = strain.silent === true || random() < 0.004;
    const dead = strain.down === true || ofHost(service.host).down === true;
    const rate = rates[at]!;
    const requests = Math.max(1, rate * 60);
    const seen = (value: number): number | null => (dark || dead ? null : value);
    const answered = (value: number): number | null => (rate < 0.01 ? null : seen(value));
    track.rate.push(dark ? null : dead ? null : rate * Math.exp(0.02 * normal(random)));
    track.errors.push(
      answered(
        share(
          now.errors[at]! +
            Math.sqrt((now.errors[at]! * (1 - now.errors[at]!)) / requests) * normal(random),
        ),
      ),
    );
    track.latency.push(answered(now.latency[at]! * Math.exp(service.noise * normal(random))));
    track.heap.push(seen(4e8 * (1 + (strain.heap ?? 0)) * (1 + 0.03 * normal(random))));
    track.pool.push(
      seen(
        share(
          0.1 +
            0.3 * Math.min(1, now.latency[at]! / (service.latency * 12)) +
            (strain.pool ?? 0) +
            0.02 * normal(random),
        ),
      ),
    );
    track.self.push(rate < 0.01 || dead ? null : now.waiting[at]!);
    track.own.push(rate < 0.01 || dead ? null : now.own[at]!);
  });
  hosts.forEach((_, at) => {
    const track = signals.hosts[at]!;
    const here = busy[at]!;
    const dark = ofHost(at).silent === true || random() < 0.003;
    const seen = (value: number): number | null => (dark ? null : value);
    const work = services.reduce(
      (sum, { host }, index) => sum + (host === at ? rates[index]! : 0),
      0,
    );
    track.cpu.push(seen(here.cpu));
    track.memory.push(seen(here.memory));
    track.disk.push(seen(here.disk));
    track.io.push(seen(here.io));
    track.traffic.push(
      seen((work + 5) * 4_000 * (1 - here.loss) * Math.exp(0.05 * normal(random))),
    );
    track.retransmits.push(seen(share(here.loss * 0.7 + 0.002 * Math.abs(normal(random)))));
    track.load.push(
      seen(Math.max(0, here.cpu / 25 + Math.max(0, here.slowdown - 1) * 2 + 0.2 * normal(random))),
    );
    track.temperature.push(
      seen(40 + here.cpu * 0.2 + (here.throttle > 1 ? 30 : 0) + normal(random)),
    );
  });
}
