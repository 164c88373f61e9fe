import { pick, type Random } from 'svc/seeded';
import type { Symptom } from 'svc/rca';

import type { Course, Signals } from './signals.ts';
import type { World } from './world.ts';

/** Alert that fired, with its step. */
export interface Fired {
  readonly step: number;
  readonly of: 'service' | 'host';
  readonly index: number;
  readonly track: string;
  readonly kind: Symptom['kind'];
  readonly direction: Symptom['direction'];
}

type Track = readonly (number | null)[];

const holdSteps = 3;

/**
 * Returns the alert that a person would get: of an entry if one is hit, else of the most visible
 * service, sometimes of a host.
 */
export function alertOf(
  random: Random,
  world: World,
  signals: Signals,
  { fault, onset, steps }: Course,
  touched: ReadonlySet<number>,
): Fired | undefined {
  if (fault.absent) {
    const of = fault.on === 'host' ? 'host' : 'service';
    return {
      step: onset + 5,
      of,
      index: fault.target,
      track: of === 'host' ? 'cpu' : 'rate',
      kind: of === 'host' ? 'cpu' : 'rate',
      direction: 'absent',
    };
  }
  if (fault.on === 'nothing') {
    const index = pick(
      random,
      world.services.flatMap(({ layer }, at) => (layer === 0 ? [at] : [])),
    );
    return {
      step: onset,
      of: 'service',
      index,
      track: 'latency',
      kind: 'latency',
      direction: 'up',
    };
  }
  const services = serviceAlerts(world, signals, onset, steps).filter(({ index }) =>
    touched.has(index),
  );
  const hosts =
    fault.on === 'host'
      ? hostAlerts(signals, onset, steps).filter(({ index }) => index === fault.target)
      : [];
  const [first] = services;
  const ofHost =
    hosts[0] && (first === undefined || (hosts[0].step <= first.step && random() < 0.3));
  return ofHost ? hosts[0] : first;
}

function serviceAlerts(
  { services }: World,
  signals: Signals,
  onset: number,
  steps: number,
): Fired[] {
  const fired = services.flatMap((_, index): Fired[] => {
    const { errors, latency } = signals.services[index]!;
    const quietErrors = middle(errors.slice(0, onset));
    const quietLatency = middle(latency.slice(0, onset));
    const byErrors = firstHeld(
      errors,
      onset,
      steps,
      (value) => value > Math.max(0.02, quietErrors * 3),
    );
    const byLatency = firstHeld(latency, onset, steps, (value) => value > quietLatency * 1.5);
    const of = { of: 'service', index, direction: 'up' } as const;
    if (byErrors !== undefined && (byLatency === undefined || byErrors <= byLatency)) {
      return [{ ...of, step: byErrors, track: 'errors', kind: 'error_ratio' as const }];
    }
    return byLatency === undefined
      ? []
      : [{ ...of, step: byLatency, track: 'latency', kind: 'latency' as const }];
  });
  return fired.sort(
    (a, b) => services[a.index]!.layer - services[b.index]!.layer || a.step - b.step,
  );
}

function hostAlerts(signals: Signals, onset: number, steps: number): Fired[] {
  const limits = [
    ['cpu', 'cpu', 90],
    ['memory', 'memory', 95],
    ['disk', 'disk', 95],
  ] as const;
  return signals.hosts
    .flatMap((host, index) =>
      limits.flatMap(([track, kind, limit]) => {
        const step = firstHeld(host[track], onset, steps, (value) => value > limit);
        return step === undefined
          ? []
          : [{ step, of: 'host' as const, index, track, kind, direction: 'up' as const }];
      }),
    )
    .sort((a, b) => a.step - b.step);
}

function firstHeld(
  track: Track,
  from: number,
  steps: number,
  holds: (value: number) => boolean,
): number | undefined {
  let held = 0;
  for (let at = from; at < steps; at += 1) {
    const value = track[at];
    held = value !== null && value !== undefined && holds(value) ? held + 1 : 0;
    if (held === holdSteps) {
      return at;
    }
  }
  return undefined;
}

function middle(track: Track): number {
  const known = track.filter((value) => value !== null).sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? 0;
}
