import { anyHost, bottom, inner, type Making, onHost, onService, ramp } from './fault.ts';
import { between } from './world.ts';

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

/** Events that trigger an alert without anything being broken. */
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
