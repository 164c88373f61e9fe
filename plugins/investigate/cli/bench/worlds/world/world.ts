import { pick, type Random } from 'svc/seeded';

import { type Vocabulary, vocabularyOf } from './vocabulary.ts';
import type { Language, WorldKind } from './world-kind.ts';

export type Engine = 'postgres' | 'mysql' | 'redis' | 'rabbitmq' | 'kafka' | 'mongodb';
type Role = 'service' | 'store' | 'external' | 'batch' | 'resolver';

export interface Machine {
  readonly name: string;
  readonly ip: string;
  readonly cores: number;
  readonly memory: number;
  /** Usual share of the processor that is busy with what no component does. */
  readonly idleCpu: number;
  readonly diskUsed: number;
}

export interface Instance {
  readonly host: number;
  readonly pod: string;
  readonly ip: string;
  readonly port: number;
}

/** Anything that serves or asks: a service, a store, somebody else's API, a batch job, the resolver. */
export interface Component {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly engine?: Engine;
  readonly language: Language;
  readonly instances: readonly Instance[];
  /** Seconds of its own work for one request, at leisure. */
  readonly self: number;
  /** Core-seconds for one request. */
  readonly cpu: number;
  /** Bytes of one instance, and its limit. */
  readonly memory: number;
  readonly memoryLimit: number;
  /** Cores that one instance may use. */
  readonly cpuLimit: number;
  /** Share of requests that fail at the best of times. */
  readonly flaws: number;
  readonly poolMax: number;
  readonly version: string;
}

export interface Call {
  readonly from: number;
  readonly to: number;
  readonly perRequest: number;
  /** Share of the failures of the callee that become failures of the caller. */
  readonly matters: number;
  readonly timeout: number;
  /** Through a queue: nobody waits. */
  readonly isAsync: boolean;
}

export interface World {
  readonly components: readonly Component[];
  readonly calls: readonly Call[];
  readonly machines: readonly Machine[];
  readonly entries: readonly number[];
  /** Requests per second at each entry. */
  readonly traffic: readonly number[];
  readonly vocabulary: Vocabulary;
  /** Order in which callers come before whom they call. */
  readonly order: readonly number[];
}

export const between = (random: Random, low: number, high: number): number =>
  low + random() * (high - low);
export const whole = (random: Random, low: number, high: number): number =>
  Math.floor(between(random, low, high + 1));
export const chance = (random: Random, share: number): boolean => random() < share;

export function shuffled<T>(random: Random, all: readonly T[]): T[] {
  const left = [...all];
  for (let at = left.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [left[at], left[other]] = [left[other]!, left[at]!];
  }
  return left;
}

const words: Readonly<Record<string, string>> = {
  shop: 'cart checkout catalog search pricing promo orders inventory shipping billing reviews wishlist account session recommend returns invoice tax media stock loyalty address gift fraud',
  bank: 'ledger transfers cards limits kyc statements rates fees fraud accounts balances mandates clearing quotes notify audit-log disputes loans scoring onboarding vault reports pricing consent',
  media:
    'playback encoder manifest profile library rights ads watchlist feed trailers subtitles license entitlement thumbnails ingest-jobs ratings devices billing history genres cdn-sign bookmarks live epg',
  logistics:
    'routing dispatch tracking labels depots drivers manifests customs rates zones pickups parcels eta geocode invoices capacity fleet scan claims weights slots carriers sorting docks',
  clinic:
    'patients appointments records prescriptions labs imaging claims consent referrals wards beds pharmacy vitals scheduling messages staff devices triage coding documents eligibility alerts-feed forms cohorts',
};
const gates = ['gateway', 'frontend', 'web', 'edge-proxy', 'storefront', 'bff', 'portal', 'api'];
const languages: readonly Language[] = ['java', 'go', 'node', 'python'];

/** Draws services, stores, hosts and who asks whom. */
export function worldOf(random: Random, kind: WorldKind): World {
  const vocabulary = vocabularyOf(random, kind);
  const machines = machinesOf(random);
  const domain = pick(random, Object.keys(words));
  const names = shuffled(random, words[domain]!.split(' '));
  const count = whole(random, 12, 30);
  const stores = Math.max(2, Math.round(count * between(random, 0.15, 0.28)));
  const services = count - stores;
  const entries = chance(random, 0.3) ? 2 : 1;
  const suffix = pick(random, ['', '', '-service', '-svc', '-api', 'service']);
  const components: Component[] = [];
  const add = (role: Role, name: string, engine?: Engine): number => {
    components.push(componentOf(random, { id: components.length, role, name, engine }, machines));
    return components.length - 1;
  };
  const gateNames = shuffled(random, gates);
  for (let at = 0; at < services; at += 1) {
    add(
      'service',
      at < entries
        ? gateNames[at]!
        : `${names[at % names.length]}${at >= names.length ? '-2' : ''}${suffix}`,
    );
  }
  const engines: readonly Engine[] = [
    'postgres',
    'redis',
    'mysql',
    'rabbitmq',
    'kafka',
    'mongodb',
    'postgres',
    'redis',
  ];
  const first: readonly Engine[] = [
    pick(random, ['postgres', 'mysql']),
    'redis',
    pick(random, ['rabbitmq', 'kafka']),
  ];
  for (let at = 0; at < stores; at += 1) {
    const engine = first[at] ?? pick(random, engines);
    add('store', storeName(random, engine, names[(at * 3) % names.length]!, components), engine);
  }
  if (chance(random, 0.6)) {
    add(
      'external',
      pick(random, [
        'api.stripe.example',
        'maps.provider.example',
        'sms.vendor.example',
        'auth.partner.example',
      ]),
    );
  }
  if (vocabulary.platform === 'kubernetes') {
    add('resolver', 'coredns');
  }
  add(
    'batch',
    pick(random, ['nightly-etl', 'report-export', 'reindex', 'backup-runner', 'thumbnailer']),
  );
  const calls = callsOf(random, components, { services, entries });
  return {
    components,
    calls,
    machines,
    entries: Array.from({ length: entries }, (_, at) => at),
    traffic: Array.from({ length: entries }, () => between(random, 8, 60)),
    vocabulary,
    order: orderOf(components, calls),
  };
}

function machinesOf(random: Random): readonly Machine[] {
  const style = pick(random, ['node', 'ip-', 'srv', 'worker', 'k8s-pool-a', 'vm']);
  const net = `10.${whole(random, 0, 200)}.${whole(random, 0, 250)}`;
  return Array.from({ length: whole(random, 8, 12) }, (_, at) => {
    const ip = `${net}.${10 + at}`;
    return {
      name:
        style === 'ip-'
          ? `ip-${ip.replaceAll('.', '-')}`
          : `${style}-${style === 'vm' ? 100 + at : String(at + 1).padStart(2, '0')}`,
      ip,
      cores: pick(random, [4, 8, 8, 16]),
      memory: pick(random, [16, 32, 64]) * 2 ** 30,
      idleCpu: between(random, 0.04, 0.2),
      diskUsed: between(random, 0.3, 0.75),
    };
  });
}

function storeName(
  random: Random,
  engine: Engine,
  word: string,
  others: readonly Component[],
): string {
  const short: Readonly<Record<Engine, string>> = {
    postgres: 'pg',
    mysql: 'mysql',
    redis: 'redis',
    rabbitmq: 'rabbitmq',
    kafka: 'kafka',
    mongodb: 'mongo',
  };
  const name = pick(
    random,
    [`${word}-db`, `${short[engine]}-${word}`, engine, `${word}-${short[engine]}`].slice(
      engine === 'postgres' || engine === 'mysql' || engine === 'mongodb' ? 0 : 1,
    ),
  );
  return others.some((other) => other.name === name) ? `${name}-${others.length}` : name;
}

function componentOf(
  random: Random,
  {
    id,
    role,
    name,
    engine,
  }: Pick<Component, 'id' | 'role' | 'name'> & { readonly engine: Engine | undefined },
  machines: readonly Machine[],
): Component {
  const copies = role === 'service' ? pick(random, [1, 2, 2, 3]) : role === 'external' ? 0 : 1;
  const hash = (length: number): string =>
    Array.from({ length }, () => pick(random, 'bcdfghjklmnpqrstvwxz2456789'.split(''))).join('');
  const replica = hash(9);
  const first = whole(random, 0, machines.length - 1);
  const cached = engine === 'redis';
  return {
    id,
    name,
    role,
    ...(engine && { engine }),
    language: pick(random, languages),
    instances: Array.from({ length: copies }, (_, at) => ({
      host: (first + at * 3) % machines.length,
      pod: engine === undefined ? `${name}-${replica}-${hash(5)}` : `${name}-${at}`,
      ip: `172.${whole(random, 16, 30)}.${whole(random, 0, 250)}.${whole(random, 2, 250)}`,
      port: portOf(engine) ?? pick(random, [8_080, 8_000, 3_000, 9_090, 8_443]),
    })),
    self: cached
      ? between(random, 0.000_4, 0.001)
      : role === 'external'
        ? between(random, 0.08, 0.2)
        : between(random, 0.003, 0.03),
    cpu: cached ? 0.000_2 : between(random, 0.002, 0.012),
    memory: between(random, 120, 700) * 2 ** 20,
    memoryLimit: pick(random, [1, 1, 2]) * 2 ** 30,
    cpuLimit: pick(random, [1, 2, 2, 4]),
    flaws: between(random, 0, 0.004),
    poolMax: pick(random, [10, 10, 20, 50]),
    version: `${whole(random, 1, 4)}.${whole(random, 0, 30)}.${whole(random, 0, 9)}`,
  };
}

export const isQueue = (engine: Component['engine']): boolean =>
  engine === 'rabbitmq' || engine === 'kafka';

const portOf = (engine: Engine | undefined): number | undefined =>
  engine &&
  { postgres: 5_432, mysql: 3_306, redis: 6_379, rabbitmq: 5_672, kafka: 9_092, mongodb: 27_017 }[
    engine
  ];

/** Chains, fans, meshes, or a mixture: each service but the entries has one that calls it, and stores are shared. */
function callsOf(
  random: Random,
  components: readonly Component[],
  { services, entries }: { readonly services: number; readonly entries: number },
): readonly Call[] {
  const shape = pick(random, ['chain', 'fan', 'mesh', 'mixed', 'mixed']);
  const calls = new Map<string, Call>();
  const call = (from: number, to: number, isAsync = false): void => {
    if (from !== to && !calls.has(`${from} ${to}`)) {
      const isCache = components[to]!.engine === 'redis';
      calls.set(`${from} ${to}`, {
        from,
        to,
        perRequest: isCache ? between(random, 1, 3) : pick(random, [0.3, 0.5, 1, 1, 1, 2]),
        matters: isCache
          ? between(random, 0.1, 0.5)
          : chance(random, 0.8)
            ? between(random, 0.75, 1)
            : between(random, 0.05, 0.3),
        timeout: pick(random, [1, 2, 2, 5, 10]),
        isAsync,
      });
    }
  };
  for (let at = entries; at < services; at += 1) {
    const reach = shape === 'chain' ? 3 : shape === 'fan' ? at : Math.ceil(at / 1.5);
    const low = shape === 'fan' ? 0 : Math.max(0, at - reach);
    call(
      shape === 'fan' && chance(random, 0.5)
        ? whole(random, 0, entries - 1)
        : whole(random, low, at - 1),
      at,
    );
    for (let more = shape === 'mesh' ? 2 : chance(random, 0.25) ? 1 : 0; more > 0; more -= 1) {
      call(whole(random, 0, at - 1), at);
    }
  }
  const queues = components.filter(({ engine }) => engine === 'rabbitmq' || engine === 'kafka');
  const stores = components.filter(
    ({ role, engine }) => role === 'store' && !queues.some((queue) => queue.engine === engine),
  );
  for (let at = entries; at < services; at += 1) {
    for (const store of shuffled(random, stores).slice(0, pick(random, [0, 1, 1, 2]))) {
      call(at, store.id);
    }
  }
  stores.forEach(({ id }) => call(whole(random, entries, services - 1), id));
  queues.forEach(({ id }) => {
    const [producer, consumer] = shuffled(
      random,
      Array.from({ length: services - entries }, (_, at) => at + entries),
    );
    call(producer!, id, true);
    call(consumer!, id, true);
  });
  const external = components.find(({ role }) => role === 'external');
  if (external !== undefined) {
    call(whole(random, Math.min(entries, services - 1), services - 1), external.id);
  }
  return [...calls.values()];
}

function orderOf(components: readonly Component[], calls: readonly Call[]): readonly number[] {
  const callers = components.map(() => 0);
  calls.forEach(({ to }) => (callers[to]! += 1));
  const ready = components.filter(({ id }) => callers[id] === 0).map(({ id }) => id);
  const order: number[] = [];
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    order.push(id);
    for (const { to } of calls.filter(({ from }) => from === id)) {
      callers[to]! -= 1;
      if (callers[to] === 0) {
        ready.push(to);
      }
    }
  }
  return order;
}
