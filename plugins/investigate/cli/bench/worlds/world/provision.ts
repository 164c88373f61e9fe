import type { Call, Component, World } from './world.ts';

/** Share of a limit, and of a machine, that the usual traffic may take. */
const mostOfLimit = 0.4;
const mostOfMachine = 0.5;
/** Seconds that an entry may usually take. */
const mostSeconds = 0.6;

/** Sizes a world for its own traffic, as its people have done long ago: nothing is short of anything while nothing is broken. */
export function provisioned(world: World): World {
  const rates = usualRates(world);
  const fast = withSpeed(world);
  const means = usualMeans(fast);
  const crowding = crowdingOf(world, rates);
  return {
    ...fast,
    components: fast.components.map((component) => {
      const { id, instances, cpuLimit } = component;
      const copies = Math.max(1, instances.length);
      const rate = Math.max(0.01, rates[id]!);
      const least = Math.min(component.cpu, (mostOfLimit * cpuLimit * copies) / rate);
      const crowded = Math.max(1, ...instances.map(({ host }) => crowding[host]!));
      return {
        ...component,
        cpu: least / crowded,
        poolMax: poolOf(component, Math.ceil((3 * waitsOf(fast, means, rates, id)) / copies)),
      };
    }),
    calls: fast.calls.map((call) => ({
      ...call,
      timeout: Math.max(call.timeout, Math.ceil(6 * means[call.to]!)),
    })),
  };
}

const poolOf = ({ poolMax }: Component, wanted: number): number =>
  wanted <= poolMax ? poolMax : Math.ceil(wanted / 10) * 10;

/** Requests per second of each component. */
function usualRates({ components, calls, entries, traffic, order }: World): readonly number[] {
  const rates = components.map(() => 0);
  entries.forEach((id, at) => (rates[id]! += traffic[at]!));
  for (const id of order) {
    callsFrom(calls, id).forEach(({ to, perRequest, isAsync }) => {
      rates[to]! += isAsync ? 0 : rates[id]! * perRequest;
    });
  }
  return rates;
}

/** Seconds of a request of each component. */
function usualMeans({ components, calls, order }: World): readonly number[] {
  const means = components.map(({ self }) => self);
  for (const id of [...order].reverse()) {
    callsFrom(calls, id).forEach(({ to, perRequest, isAsync }) => {
      means[id]! += isAsync ? 0 : Math.min(1.5, perRequest) * means[to]!;
    });
  }
  return means;
}

const callsFrom = (calls: readonly Call[], id: number): readonly Call[] =>
  calls.filter(({ from }) => from === id);

/** The same world, quick enough at its entries. */
function withSpeed(world: World): World {
  const means = usualMeans(world);
  const slowest = Math.max(...world.entries.map((id) => means[id]!));
  const factor = Math.min(1, mostSeconds / slowest);
  return {
    ...world,
    components: world.components.map((component) => ({
      ...component,
      self: component.self * factor,
    })),
  };
}

/** Returns the use of each machine in multiples of its share. */
const crowdingOf = ({ components, machines }: World, rates: readonly number[]): readonly number[] =>
  machines.map(({ cores, idleCpu }, host) => {
    const used = components.reduce((sum, { id, instances, cpu, cpuLimit }) => {
      const here = instances.filter((one) => one.host === host).length;
      const copies = Math.max(1, instances.length);
      const each = Math.min((rates[id]! * cpu) / copies, mostOfLimit * cpuLimit);
      return sum + (here * each) / cores;
    }, 0);
    return used / Math.max(0.1, mostOfMachine - idleCpu);
  });

/** Connections of a component to its stores that are in use at a time. */
const waitsOf = (
  { components, calls }: World,
  means: readonly number[],
  rates: readonly number[],
  id: number,
): number =>
  callsFrom(calls, id)
    .filter(({ to }) => components[to]!.role === 'store')
    .reduce((sum, { to, perRequest }) => sum + rates[id]! * perRequest * means[to]!, 0);
