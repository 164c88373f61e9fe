import { anyHost, bottom, inner, type Making, onHost, onService, ramp } from './fault.ts';
import { between } from './world.ts';

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
      strain: (step) => ({
        disk: ramp(step, length) * 100,
        writesFail: ramp(step, length) * 100 > 70,
        io: ramp(step, length) * 20,
      }),
      categories: ['resource_exhaustion'],
      check: { name: 'disk_full', details: { used_percent: 99.4 } },
      log: {
        template: 'write <path> failed: no space left on device',
        severity: 'error',
        of: 'target',
      },
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
    log: {
      template: 'connect to <*> failed: connection refused',
      severity: 'error',
      of: 'callers',
    },
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
      log: {
        template: 'unhandled exception in handler <*>: undefined is not a function',
        severity: 'error',
        of: 'target',
      },
    };
  },
  'certificate expired': (random, world) => ({
    ...onService,
    name: 'certificate expired',
    target: inner(random, world),
    strain: () => ({ refuses: true }),
    categories: ['configuration_error'],
    check: { name: 'cert_expiry', details: { days_left: -0.01 } },
    log: {
      template: 'tls handshake with <*> failed: certificate has expired',
      severity: 'error',
      of: 'callers',
    },
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
