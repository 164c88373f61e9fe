import { pick, type Random } from 'svc/seeded';

/**
 * Simulated fleet: services in layers that call downwards, on hosts. Names reveal nothing about
 * them.
 */
export interface World {
  readonly services: readonly Service[];
  readonly hosts: readonly Host[];
}

export interface Host {
  readonly id: string;
  readonly cpu: number;
  readonly memory: number;
  readonly disk: number;
  readonly io: number;
  /** Sensitivity to contention of what runs here. */
  readonly strain: number;
}

export interface Service {
  readonly id: string;
  readonly kind: 'service' | 'database';
  readonly layer: number;
  readonly host: number;
  readonly calls: readonly Call[];
  /** Seconds that it takes itself. */
  readonly latency: number;
  readonly errors: number;
  /** Points of CPU for each request a second. */
  readonly cost: number;
  readonly noise: number;
  readonly hasHeap: boolean;
  readonly hasPool: boolean;
}

export interface Call {
  /** Index of the service that is called; always a larger one. */
  readonly to: number;
  /** Calls for each request. */
  readonly share: number;
  /** Share of the other side's errors that become errors here; the rest is retried. */
  readonly passes: number;
  readonly lag: number;
}

export const between = (random: Random, low: number, high: number): number =>
  low + random() * (high - low);
export const whole = (random: Random, low: number, high: number): number =>
  Math.floor(between(random, low, high + 1));

/** Normally distributed, mean 0 and deviation 1. */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Sizes differ a lot from seed to seed: from six services on three hosts to thirty on twelve. */
export function worldOf(random: Random): World {
  const layers = whole(random, 3, 5);
  const hosts = Array.from({ length: whole(random, 3, 12) }, (_, at) => hostOf(random, at));
  const perLayer = Array.from({ length: layers }, (_, layer) =>
    whole(random, layer === 0 ? 1 : 2, layer === 0 ? 2 : 7),
  );
  const layerOf = perLayer.flatMap((count, layer) => Array<number>(count).fill(layer));
  const services = layerOf.map((layer, at) =>
    serviceOf(random, at, layer, layers, layerOf, hosts.length),
  );
  return { hosts, services: affordable(everyoneIsCalled(random, services), hosts.length) };
}

const letters = 'bcdfghjklmnpqrstvwxz';
const label = (random: Random): string =>
  Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)]!).join('');

function hostOf(random: Random, at: number): Host {
  return {
    id: `${label(random)}${at}h`,
    cpu: between(random, 5, 30),
    memory: between(random, 30, 70),
    disk: between(random, 20, 75),
    io: between(random, 2, 20),
    strain: between(random, 1.5, 4),
  };
}

function serviceOf(
  random: Random,
  at: number,
  layer: number,
  layers: number,
  layerOf: readonly number[],
  hosts: number,
): Service {
  const below = layerOf.flatMap((other, index) => (other > layer ? [{ other, index }] : []));
  const wanted = layer === layers - 1 ? 0 : whole(random, 1, 4);
  const chosen = new Map<number, Call>();
  for (let call = 0; call < wanted && below.length > 0; call += 1) {
    const near = below.filter(({ other }) => other === layer + 1);
    const to = pick(random, random() < 0.8 ? near : below).index;
    chosen.set(to, callTo(random, to));
  }
  return {
    id: `${label(random)}${at}s`,
    kind: layer === layers - 1 && random() < 0.6 ? 'database' : 'service',
    layer,
    host: Math.floor(random() * hosts),
    calls: [...chosen.values()],
    latency: between(random, 0.004, 0.12),
    errors: random() < 0.15 ? between(random, 0.005, 0.03) : between(random, 0, 0.001),
    cost: between(random, 0.02, 0.15),
    noise: between(random, 0.03, 0.1),
    hasHeap: random() < 0.6,
    hasPool: random() < 0.5,
  };
}

const callTo = (random: Random, to: number): Call => ({
  to,
  share: between(random, 0.3, 1.2),
  passes: between(random, 0.35, 1),
  lag: random() < 0.3 ? 1 : 0,
});

/** A service that is called by none would be an entry of its own. */
function everyoneIsCalled(random: Random, services: readonly Service[]): readonly Service[] {
  const calls = services.map(({ calls: own }) => [...own]);
  const called = new Set(calls.flat().map(({ to }) => to));
  services.forEach(({ layer }, at) => {
    if (layer > 0 && !called.has(at)) {
      const above = services.flatMap((other, index) => (other.layer === layer - 1 ? [index] : []));
      calls[pick(random, above)]!.push(callTo(random, at));
    }
  });
  return services.map((service, at) => ({ ...service, calls: calls[at]! }));
}

/**
 * Scales services so that hosts have capacity: at the busiest hour services use at most two fifths
 * of the processors.
 */
function affordable(services: readonly Service[], hosts: number): readonly Service[] {
  const rates = services.map(({ layer }) => (layer === 0 ? 168 : 0));
  services.forEach(({ calls }, at) =>
    calls.forEach(({ to, share }) => (rates[to]! += rates[at]! * share)),
  );
  const work = Array.from({ length: hosts }, (_, host) =>
    services.reduce(
      (sum, service, at) => sum + (service.host === host ? service.cost * rates[at]! : 0),
      0,
    ),
  );
  return services.map((service) => ({
    ...service,
    cost: service.cost * Math.min(1, 40 / work[service.host]!),
  }));
}

/** Everything that needs this one, at whatever distance. */
export function dependents(world: World, service: number): ReadonlySet<number> {
  const found = new Set([service]);
  for (let at = service; at >= 0; at -= 1) {
    if (world.services[at]!.calls.some(({ to }) => found.has(to))) {
      found.add(at);
    }
  }
  return found;
}
