import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { parcels } from '../bench/front-bodies.ts';
import { cpuSeconds, startWholeHouse, type WholeHouse } from '../whole-house.ts';
import {
  linesPerPush,
  parcelOf,
  readBack,
  samplesPerPush,
  type Signal,
  signals,
  spansPerPush,
} from './telemetry-crash-model.ts';

/** Numbers of the pushes that were acknowledged, and how many were sent at all. */
interface Told {
  readonly acknowledged: Set<number>;
  sent: number;
}

type Ledger = Readonly<Record<Signal, Told>>;

/** Longest from the start of a process until everything can be read. */
const readyWithinMs = 5_000;
const heardWithinMs = 60_000;

/**
 * Kills svc while metrics, logs and traces arrive by HTTP, again and again: after each start
 * everything acknowledged is returned by the query APIs. `fill` seconds of a fleet's data are in
 * memory before the first kill.
 */
export async function run({
  rounds = 100,
  fill = 3,
}: { readonly rounds?: number; readonly fill?: number } = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-telemetry-crash-'));
  const ledger: Ledger = {
    metrics: { acknowledged: new Set(), sent: 0 },
    logs: { acknowledged: new Set(), sent: 0 },
    traces: { acknowledged: new Set(), sent: 0 },
  };
  const slowest = { ready: 0, readable: 0, cpu: 0 };
  const epoch = Date.now() - 60_000;
  let house: WholeHouse | undefined;
  try {
    house = await startWholeHouse({ dataDir });
    await fillUp(house, fill);
    for (const round of counted(rounds, 'kills')) {
      const before = Object.fromEntries(
        signals.map((signal) => [signal, ledger[signal].sent]),
      ) as Record<Signal, number>;
      await pushUntilKilled(house, ledger, epoch, 150 + Math.random() * 600);
      const began = performance.now();
      house = await startWholeHouse({ dataDir });
      slowest.ready = Math.max(slowest.ready, house.readyMs);
      slowest.cpu = Math.max(slowest.cpu, cpuSeconds(house.pid));
      for (const signal of signals) {
        await demandAll(house, signal, ledger[signal], before[signal], epoch, round, () => {
          slowest.readable = Math.max(slowest.readable, performance.now() - began);
        });
      }
    }
    for (const signal of signals) {
      await demandAll(house, signal, ledger[signal], 0, epoch, rounds, () => undefined);
    }
    return {
      ok: slowest.readable < readyWithinMs,
      kills: rounds,
      'acknowledged samples': ledger.metrics.acknowledged.size * samplesPerPush,
      'acknowledged lines': ledger.logs.acknowledged.size * linesPerPush,
      'acknowledged spans': ledger.traces.acknowledged.size * spansPerPush,
      // On a busy machine it tells how long a start would take on an idle one.
      'most CPU until ready, s': slowest.cpu,
      'slowest start until ready, ms': Math.round(slowest.ready),
      'slowest start until all three answer, ms (goal 5000)': Math.round(slowest.readable),
    };
  } finally {
    await house?.end('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Everything acknowledged from push `from` on is there, whole and once. */
async function demandAll(
  house: WholeHouse,
  signal: Signal,
  told: Told,
  from: number,
  epoch: number,
  round: number,
  answered: () => void,
): Promise<void> {
  const found = await readBack(house, signal, { from, to: told.sent, epoch });
  answered();
  for (const number of told.acknowledged) {
    assert.ok(
      number < from || found.has(number),
      `round ${round}: push ${number} of ${signal} was acknowledged and is not there`,
    );
  }
}

/**
 * Pushes with two senders of each signal, reporting each acknowledged push, until the process is
 * gone: `afterMs` after all were reported.
 */
async function pushUntilKilled(
  house: WholeHouse,
  ledger: Ledger,
  epoch: number,
  afterMs: number,
): Promise<void> {
  let killed = false;
  const before = signals.map((signal) => ledger[signal].acknowledged.size);
  const areHeard = async (): Promise<void> => {
    const deadline = performance.now() + heardWithinMs;
    while (signals.some((signal, index) => ledger[signal].acknowledged.size === before[index])) {
      assert.ok(performance.now() < deadline, 'a push of each signal is acknowledged');
      await pause(5);
    }
    await pause(afterMs);
  };
  const sender = async (signal: Signal): Promise<void> => {
    const told = ledger[signal];
    while (!killed) {
      const number = told.sent++;
      const { path, type, encoding, body } = parcelOf(signal, number, epoch);
      try {
        const headers = {
          'content-type': type,
          ...(encoding !== undefined && { 'content-encoding': encoding }),
        };
        const answer = await house.fetch(path, { method: 'POST', headers, body });
        const text = await answer.text();
        assert.ok(answer.ok || answer.status === 429, `${path} answered ${answer.status}: ${text}`);
        if (answer.ok) {
          told.acknowledged.add(number);
        } else {
          await pause(1_000 * Number(answer.headers.get('retry-after')));
        }
      } catch (error) {
        if (!killed) {
          throw error;
        }
      }
    }
  };
  const senders = signals.flatMap((signal) => [sender(signal), sender(signal)]);
  const ended = Promise.all(senders);
  await Promise.race([areHeard(), ended]);
  killed = true;
  await house.end('SIGKILL');
  await ended;
}

/**
 * Pushes what a fleet sends within some seconds, so that stores have something to replay when they
 * start.
 */
export async function fillUp(house: WholeHouse, seconds: number): Promise<void> {
  if (seconds === 0) {
    return;
  }
  const made = parcels(
    { samples: 200_000, lines: 20_000, spans: 10_000 },
    seconds,
    Date.now() - 600_000,
  );
  for (const { path, headers, body } of signals.flatMap((signal) => made[signal])) {
    for (;;) {
      const answer = await house.fetch(path, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${house.token}` },
        body,
      });
      const text = await answer.text();
      if (answer.ok) {
        break;
      }
      assert.ok(
        answer.status === 429 || answer.status === 503,
        `${path} answered ${answer.status}: ${text}`,
      );
      await pause(1_000 * Number(answer.headers.get('retry-after')));
    }
  }
}
