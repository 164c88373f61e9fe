import { pick, type Random } from 'svc/seeded';

import type { Fault, Pressure } from './fault.ts';
import type { Call, Component, World } from './world.ts';

/** A fault of one component. */
export function made(
  kind: string,
  said: RegExp,
  target: Component,
  hit: (mine: Pressure, strength: number) => unknown,
  logs: Fault['logs'],
): Fault {
  return {
    kind,
    said,
    components: [target.id],
    hosts: [],
    ramp: 'step',
    logs,
    press: ({ components }, strength) => void hit(components[target.id]!, strength),
  };
}

/** The parts that faults of a machine have in common. */
export const hostFault = (kind: string, said: RegExp, host: number): Omit<Fault, 'press'> => ({
  kind,
  said,
  components: [],
  hosts: [host],
  ramp: 'step',
  logs: [],
});

/** A component that somebody calls. */
export function picked(
  random: Random,
  all: readonly Component[],
  suits: (one: Component) => boolean,
  world: World,
  isCalled = false,
): Component | undefined {
  const called = new Set(world.calls.map(({ to }) => to));
  const suited = all.filter(
    (one) => suits(one) && (called.has(one.id) || (!isCalled && one.role === 'service')),
  );
  return suited.length === 0 ? undefined : pick(random, suited);
}

/** A machine on which a component runs. */
export function busyHost(random: Random, { components, machines }: World): number | undefined {
  const busy = machines
    .map((_, host) => host)
    .filter((host) =>
      components.some(({ role, instances }) => role !== 'batch' && instances[0]?.host === host),
    );
  return busy.length === 0 ? undefined : pick(random, busy);
}

/** Index of a call that somebody waits for. */
export function pickCall(random: Random, { calls, components }: World): number | undefined {
  const suited = calls.flatMap((call: Call, at) =>
    !call.isAsync && call.matters > 0.5 && components[call.to]!.role !== 'external' ? [at] : [],
  );
  return suited.length === 0 ? undefined : pick(random, suited);
}
