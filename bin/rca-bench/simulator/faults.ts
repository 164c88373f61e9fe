import { pick, type Random } from '../../edge-sim/random.ts';
import type { ChangeKind } from 'svc/rca';

import { between, type World } from './world.ts';

/** What a fault does to one service or host in one step; everything else follows from the world. */
export interface Strain {
  /** Of a service. */
  readonly slower?: number;
  readonly added?: number;
  readonly errors?: number;
  readonly down?: boolean;
  readonly refuses?: boolean;
  readonly heap?: number;
  readonly pool?: number;
  readonly traffic?: number;
  /** Of a host. */
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly io?: number;
  readonly loss?: number;
  readonly writesFail?: boolean;
  readonly throttle?: number;
  /** Its series stop. */
  readonly silent?: boolean;
}

export interface Fault {
  readonly name: string;
  readonly on: 'host' | 'service' | 'entries' | 'nothing';
  /** Nodes that are right answers, by index. */
  readonly target: number;
  readonly strain: (step: number) => Strain;
  readonly categories: readonly string[];
  readonly verdicts: readonly string[];
  /** What the machine or the trail of changes tells of it, if it is asked. */
  readonly check?: { readonly name: string; readonly details: Readonly<Record<string, number | string | boolean>> };
  readonly change?: { readonly kind: ChangeKind; readonly title: string };
  readonly log?: { readonly template: string; readonly severity: 'warn' | 'error' | 'fatal'; readonly of: 'target' | 'callers' };
  /** The alert is that data do not come. */
  readonly absent?: boolean;
}

type Making = (random: Random, world: World) => Fault;

const found = ['root_cause', 'suspected'];
const anyHost = (random: Random, { hosts, services }: World): number =>
  pick(
    random,
    hosts.map((_, at) => at).filter((at) => services.some(({ host }) => host === at)),
  );
const inner = (random: Random, { services }: World): number =>
  pick(
    random,
    services.map((_, at) => at).filter((at) => services[at]!.layer > 0),
  );
const bottom = (random: Random, { services }: World): number =>
  pick(
    random,
    services.map((_, at) => at).filter((at) => services[at]!.calls.length === 0),
  );
const onHost = { on: 'host', verdicts: found } as const;
const onService = { on: 'service', verdicts: found } as const;
const ramp = (step: number, length: number): number => Math.min(1, Math.max(0, (step + 1) / length));

/** Faults that the engine was built with in view. */
export const knownFaults: Readonly<Record<string, Making>> = {
  'cpu hog': (random, world) => {
    const cpu = between(random, 60, 95);
    return {
      ...onHost,
      name: 'cpu hog',
      target: anyHost(random, world),
      strain: () => ({ cpu }),
      categories: ['resource_exhaustion'],
      check: { name: 'load_per_core', details: { load_per_core: 4 } },
    };
  },
  'memory leak': (random, world) => {
    const length = between(random, 40, 100);
    const memory = between(random, 45, 65);
    const target = inner(random, world);
    return {
      ...onService,
      name: 'memory leak',
      target,
      strain: (step) => ({ heap: ramp(step, length) * 4, memory: ramp(step, length) * memory }),
      categories: ['resource_exhaustion', 'code_defect'],
      check: { name: 'oom_kills', details: { oom_kills: 1 } },
    };
  },
  'disk fill': (random, world) => {
    const length = between(random, 20, 80);
    return {
      ...onHost,
      name: 'disk fill',
      target: anyHost(random, world),
      strain: (step) => ({ disk: ramp(step, length) * 100, writesFail: ramp(step, length) * 100 > 70, io: ramp(step, length) * 20 }),
      categories: ['resource_exhaustion'],
      check: { name: 'disk_full', details: { used_percent: 99.4 } },
      log: { template: 'write <path> failed: no space left on device', severity: 'error', of: 'target' },
    };
  },
  latency: (random, world) => {
    const added = between(random, 0.15, 1.5);
    return {
      ...onService,
      name: 'latency',
      target: inner(random, world),
      strain: () => ({ added }),
      categories: ['unknown', 'code_defect', 'dependency_failure'],
    };
  },
  'packet loss': (random, world) => {
    const loss = between(random, 0.05, 0.25);
    return {
      ...onHost,
      name: 'packet loss',
      target: anyHost(random, world),
      strain: () => ({ loss }),
      categories: ['infrastructure'],
      check: { name: 'tcp_retransmits', details: { ratio: loss } },
    };
  },
  'dependency down': (random, world) => ({
    ...onService,
    name: 'dependency down',
    target: bottom(random, world),
    strain: () => ({ down: true }),
    categories: ['dependency_failure', 'infrastructure'],
    log: { template: 'connect to <*> failed: connection refused', severity: 'error', of: 'callers' },
  }),
  'bad deploy': (random, world) => {
    const errors = between(random, 0.08, 0.6);
    return {
      ...onService,
      name: 'bad deploy',
      target: inner(random, world),
      strain: () => ({ errors, slower: 1.2 }),
      categories: ['code_defect', 'configuration_error'],
      change: { kind: 'deploy', title: 'version <*> deployed' },
      log: { template: 'unhandled exception in handler <*>: undefined is not a function', severity: 'error', of: 'target' },
    };
  },
  'certificate expired': (random, world) => ({
    ...onService,
    name: 'certificate expired',
    target: inner(random, world),
    strain: () => ({ refuses: true }),
    categories: ['configuration_error'],
    check: { name: 'cert_expiry', details: { days_left: -0.01 } },
    log: { template: 'tls handshake with <*> failed: certificate has expired', severity: 'error', of: 'callers' },
  }),
  'clock skew': (random, world) => {
    const errors = between(random, 0.15, 0.5);
    return {
      ...onHost,
      name: 'clock skew',
      target: anyHost(random, world),
      strain: () => ({ errors }),
      categories: ['infrastructure', 'configuration_error'],
      check: { name: 'clock_skew', details: { offset_seconds: 412 } },
    };
  },
  'cron burst': (random, world) => {
    const cpu = between(random, 55, 80);
    const io = between(random, 60, 90);
    return {
      ...onHost,
      name: 'cron burst',
      target: anyHost(random, world),
      strain: (step) => (step % 6 === 5 ? {} : { cpu, io }),
      categories: ['resource_exhaustion', 'configuration_error'],
      change: { kind: 'cron', title: 'cron job <*> started' },
    };
  },
  'metric gap': (random, world) => {
    const ofHost = random() < 0.5;
    return {
      on: ofHost ? 'host' : 'service',
      name: 'metric gap',
      target: ofHost ? anyHost(random, world) : inner(random, world),
      strain: () => ({ silent: true }),
      categories: ['data_quality'],
      verdicts: ['monitoring_fault'],
      absent: true,
    };
  },
  'edge offline': (random, world) => ({
    on: 'host',
    name: 'edge offline',
    target: anyHost(random, world),
    strain: () => ({ silent: true }),
    categories: ['data_quality', 'infrastructure'],
    verdicts: ['monitoring_fault'],
    check: { name: 'edge_offline', details: { offline: true } },
    absent: true,
  }),
};

/** Faults that are kept for measuring: nothing was fitted to them. */
export const unseenFaults: Readonly<Record<string, Making>> = {
  'lock contention': (random, world) => {
    const slower = between(random, 6, 25);
    return {
      ...onService,
      name: 'lock contention',
      target: bottom(random, world),
      strain: () => ({ slower, pool: 0.5 }),
      categories: ['unknown', 'dependency_failure', 'resource_exhaustion', 'code_defect'],
    };
  },
  'pool exhausted': (random, world) => {
    const errors = between(random, 0.1, 0.4);
    return {
      ...onService,
      name: 'pool exhausted',
      target: inner(random, world),
      strain: () => ({ pool: 1, errors, slower: 3 }),
      categories: ['resource_exhaustion', 'unknown', 'code_defect', 'dependency_failure'],
    };
  },
  'name resolution': (random, world) => {
    const errors = between(random, 0.2, 0.7);
    return {
      ...onHost,
      name: 'name resolution',
      target: anyHost(random, world),
      strain: () => ({ errors }),
      categories: ['infrastructure', 'configuration_error'],
      check: { name: 'dns_failure', details: { failures: 31 } },
    };
  },
  'collector pauses': (random, world) => {
    const slower = between(random, 8, 20);
    return {
      ...onService,
      name: 'collector pauses',
      target: inner(random, world),
      strain: (step) => (step % 3 === 2 ? {} : { slower, heap: 1.5 }),
      categories: ['unknown', 'resource_exhaustion', 'code_defect'],
    };
  },
  'thermal throttle': (random, world) => {
    const throttle = between(random, 4, 8);
    return {
      ...onHost,
      name: 'thermal throttle',
      target: anyHost(random, world),
      strain: () => ({ throttle, cpu: 30 }),
      categories: ['infrastructure', 'resource_exhaustion'],
    };
  },
  'descriptors spent': (random, world) => {
    const errors = between(random, 0.2, 0.6);
    return {
      ...onService,
      name: 'descriptors spent',
      target: inner(random, world),
      strain: (step) => ({ errors: errors * ramp(step, 8) }),
      categories: ['resource_exhaustion', 'unknown', 'code_defect', 'dependency_failure'],
      log: { template: 'accept failed: too many open files', severity: 'error', of: 'target' },
    };
  },
  'wrong setting': (random, world) => {
    const errors = between(random, 0.1, 0.5);
    return {
      ...onService,
      name: 'wrong setting',
      target: inner(random, world),
      strain: () => ({ errors }),
      categories: ['configuration_error', 'code_defect'],
      change: { kind: 'config', title: 'setting <*> changed' },
    };
  },
  'host lost': (random, world) => ({
    ...onHost,
    name: 'host lost',
    target: anyHost(random, world),
    strain: () => ({ down: true, silent: true }),
    categories: ['infrastructure', 'dependency_failure'],
    check: { name: 'edge_offline', details: { offline: true } },
  }),
};

/** What sets off an alert though nothing is broken. */
export const calm: Readonly<Record<string, Making>> = {
  surge: (random) => {
    const traffic = between(random, 1.8, 3.5);
    return {
      name: 'surge',
      on: 'entries',
      target: -1,
      strain: (step) => ({ traffic: 1 + (traffic - 1) * ramp(step, 4) }),
      categories: ['healthy'],
      verdicts: ['no_anomaly', 'recovered', 'insufficient_data'],
    };
  },
  quiet: () => ({
    name: 'quiet',
    on: 'nothing',
    target: -1,
    strain: () => ({}),
    categories: ['healthy', 'unknown'],
    verdicts: ['no_anomaly', 'recovered', 'insufficient_data'],
  }),
};
