import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { Outcome, Row } from '../exercise.ts';
import type { FleetFigures } from './tunnel-fleet.ts';
import type { Broadcast, ManagerFigures, Sample } from './tunnel-house.ts';

/**
 * Bare sessions over real WebSockets: the manager's side in a process of its own, `edges` of them in another. What a tunnel costs
 * before anybody does anything with it: memory, CPU while each pings and sends a snapshot of its host every 15 s, calls, a call to all.
 */
export async function run({
  edges = 10_000,
  seconds = 20,
  calls = 2_000,
  perSecond = 500,
}: Row = {}): Promise<Outcome> {
  const manager = await start<{ port: number }>('tunnel-house.ts', []);
  let fleet: Started<{ ready: true }> | undefined;
  try {
    const empty = await ask<ManagerFigures>(manager.child, 'figures');
    const begun = performance.now();
    fleet = await start<{ ready: true }>('tunnel-fleet.ts', [
      String(manager.told.port),
      String(edges),
      String(perSecond),
    ]);
    let came = await ask<ManagerFigures>(manager.child, 'figures');
    while (came.sessions < Number(edges)) {
      if (performance.now() - begun > 120_000 + (Number(edges) / Number(perSecond)) * 1_000) {
        throw new Error(`only ${came.sessions} of ${edges} edges came in time`);
      }
      await pause(250);
      came = await ask<ManagerFigures>(manager.child, 'figures');
    }
    const allInMs = performance.now() - begun;
    await pause(3_000);
    const before = await ask<ManagerFigures>(manager.child, 'figures');
    await pause(Number(seconds) * 1_000);
    const after = await ask<ManagerFigures>(manager.child, 'figures');
    const sample = await ask<Sample>(manager.child, `sample ${calls}`);
    const broadcasts: Broadcast[] = [];
    for (let round = 0; round < 3; round += 1) {
      broadcasts.push(await ask<Broadcast>(manager.child, 'all'));
    }
    const end = await ask<ManagerFigures>(manager.child, 'figures');
    const simulated = await ask<FleetFigures>(fleet.child, 'figures');
    const toAllMs = Math.max(...broadcasts.map(({ ms }) => ms));
    const failed = sample.failed + broadcasts.reduce((sum, { failed: lost }) => sum + lost, 0);
    return {
      ok:
        end.sessions === Number(edges) &&
        failed === 0 &&
        end.rssMb <= 600 &&
        sample.p99Ms <= 100 &&
        toAllMs <= 2_000,
      edges: end.sessions,
      'all in after s': round1(allInMs / 1_000),
      'manager RSS MB': after.rssMb,
      'KiB per session': Math.round(((after.rssMb - empty.rssMb) * 1_024) / Number(edges)),
      'CPU % of a core, steady': round1((after.cpuMs - before.cpuMs) / Number(seconds) / 10),
      'events per second, steady': Math.round((after.events - before.events) / Number(seconds)),
      'event loop p99 ms, steady': round1(after.loopP99Ms),
      'RPC p50 ms': round1(sample.p50Ms),
      'RPC p99 ms': round1(sample.p99Ms),
      'RPC to all ms': Math.round(toAllMs),
      'RSS after it MB': end.rssMb,
      'failed calls': failed,
      'simulator RSS MB': simulated.rssMb,
    };
  } finally {
    fleet?.child.disconnect();
    manager.child.disconnect();
  }
}

interface Started<T> {
  readonly child: ChildProcess;
  readonly told: T;
}

async function start<T>(file: string, args: readonly string[]): Promise<Started<T>> {
  const command = ['--expose-gc', '--import', 'tsx', join(import.meta.dirname, file), ...args];
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [told] = (await once(child, 'message', { signal: AbortSignal.timeout(30_000) })) as [T];
  return { child, told };
}

async function ask<T>(child: ChildProcess, what: string): Promise<T> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(60_000) });
  child.send(what);
  const [figures] = (await answer) as [T];
  return figures;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const round1 = (value: number): number => Math.round(value * 10) / 10;
