import { type Loop, type Manager, pause, type Timed, withStand } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';

/** Longer than edges are awaited after a restart: whoever was forgotten is told to be offline by then. */
const awaitedMs = 65_000;

/**
 * A fleet at the real manager, as shipped, that drops connections and answers late on purpose: every edge enrols, gets a device and
 * is stored; every one is asked; the manager is killed, and all come back without one of them being told to be offline. Judges what
 * happened, not how fast: figures are those of `npm run bench tunnel`.
 */
export async function run({ count = 1_000, interval = 5, fail = 0.002 }: Row = {}): Promise<Outcome> {
  const edges = Number(count);
  return await withStand([], async ({ manager, simulate }) => {
    const simulator = await simulate(edges, { ramp: Math.ceil(edges / 100), interval: Number(interval), 'fail-prob': Number(fail), 'logs-per-second': 0.2 });
    await simulator.until('the arrival of all edges', ({ enrolled, connects }) => enrolled === edges && connects >= edges, 600_000);
    await until('a device for each', async () => (await manager.ask<{ total: number }>('/api/v1/devices?limit=1')).total === edges);
    await until('samples of each', async () => (await manager.value('count(count by (device_id) (node_load1{device_id!=""}))')) === edges);
    // Some are away at any moment, and some answers are late on purpose; nobody is lost.
    const all = await manager.ask<Timed>('/api/v1/tunnel-probe/all', {});
    const before = await simulator.until('log lines', ({ lines }) => lines > edges, 600_000);
    const early = await offlineOf(manager);
    await manager.end('SIGKILL');
    await manager.start();
    await simulator.until('the return of all edges', ({ connected, connects }) => connects >= before.connects + edges && connected > edges * 0.95, 600_000);
    await pause(awaitedMs);
    const falsely = await offlineOf(manager);
    const told = await simulator.end();
    return {
      ok:
        all.failed <= edges * 0.05 &&
        early === 0 &&
        falsely === 0 &&
        told !== undefined &&
        told.connected === 0 &&
        told.faults > 0 &&
        told.pushes.limited === 0,
      edges,
      'asked at once, not answered': all.failed,
      'faults made on purpose': told?.faults ?? -1,
      'tunnels lost and come again': (told?.connects ?? 0) - edges,
      'pushes taken': told?.pushes.ok ?? -1,
      'pushes limited': told?.pushes.limited ?? -1,
      'false offline states before the kill': early,
      'false offline states after it': falsely,
    };
  });
}

const offlineOf = async (manager: Manager): Promise<number> => (await manager.ask<Loop>('/api/v1/tunnel-probe')).offline;

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 600_000; !(await holds()); await pause(500)) {
    if (performance.now() > deadline) {
      throw new Error(`${what}: not in time`);
    }
  }
}
