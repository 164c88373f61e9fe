import {
  type Loop,
  type Manager,
  pause,
  say,
  type Timed,
  withStand,
} from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';

/**
 * Time longer than edges are awaited after a restart: missing ones are reported offline by then.
 */
const awaitedMs = 65_000;
/**
 * Time limit of each step on a busy machine: all of them together end within a quarter of an hour.
 */
const stepMs = 180_000;

/**
 * Tests a fleet at the real manager, as shipped, that drops connections and answers late on
 * purpose: every edge enrols, gets a device and is stored; every one is called; the manager is
 * killed, and all come back without any being reported offline. Judges correctness, not speed:
 * figures are those of `npm run bench tunnel`.
 */
export async function run({
  count = 1_000,
  interval = 5,
  fail = 0.002,
}: Row = {}): Promise<Outcome> {
  const edges = Number(count);
  return await withStand([], async ({ manager, simulate }) => {
    const simulator = await simulate(edges, {
      ramp: Math.ceil(edges / 100),
      interval: Number(interval),
      'fail-prob': Number(fail),
      'logs-per-second': 0.2,
    });
    await simulator.until(
      'the arrival of all edges',
      ({ enrolled, connects }) => enrolled === edges && connects >= edges,
      stepMs,
    );
    await until(
      'a device for each',
      async () => (await manager.ask<{ total: number }>('/api/v1/devices?limit=1')).total === edges,
    );
    await until(
      'samples of each',
      async () =>
        (await manager.value('count(count by (device_id) (node_load1{device_id!=""}))')) === edges,
    );
    // Some are away at any moment, and some answers are late on purpose; nobody is lost.
    const all = await manager.ask<Timed>('/api/v1/tunnel-probe/all', {});
    await simulator.until('log lines', ({ lines }) => lines > edges, stepMs);
    const early = await offlineOf(manager);
    const told = await simulator.end();
    // The same hosts without faults: one that is cut on purpose while it waits longer and longer is rightly told to be offline.
    const steady = await simulate(edges, {
      ramp: Math.ceil(edges / 200),
      interval: Number(interval),
    });
    const { connects } = await steady.until(
      'the return of the same edges',
      ({ connected }) => connected === edges,
      stepMs,
    );
    await manager.end('SIGKILL');
    await manager.start();
    await steady.until(
      'the return of all edges after kill -9',
      (now) => now.connects >= connects + edges && now.connected === edges,
      stepMs,
    );
    say('waiting until those that stayed away are told');
    await pause(awaitedMs);
    const falsely = await offlineOf(manager);
    const last = await steady.end();
    return {
      ok:
        all.failed <= edges * 0.05 &&
        early === 0 &&
        falsely === 0 &&
        told !== undefined &&
        told.connected === 0 &&
        told.faults > 0 &&
        told.pushes.limited === 0 &&
        last?.lost === edges,
      edges,
      'asked at once, not answered': all.failed,
      'faults made on purpose': told?.faults ?? -1,
      'tunnels lost and come again': (told?.connects ?? 0) - edges,
      'pushes taken': (told?.pushes.ok ?? -1) + (last?.pushes.ok ?? 0),
      'pushes limited': told?.pushes.limited ?? -1,
      'false offline states before the kill': early,
      'false offline states after it': falsely,
    };
  });
}

const offlineOf = async (manager: Manager): Promise<number> =>
  (await manager.ask<Loop>('/api/v1/tunnel-probe')).offline;

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + stepMs; !(await holds()); await pause(500)) {
    if (performance.now() > deadline) {
      throw new Error(`${what}: not in time`);
    }
  }
  say(`${what}: done`);
}
