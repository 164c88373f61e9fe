import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from 'svc/sdk';

import type { Outcome } from '../exercise.ts';
import { counted } from '../counted.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';
import { parcelOf, readBack, type Signal, signals } from './telemetry-crash-model.ts';

const mebibyte = 1024 * 1024;
/** A little more than must be free for stores to take anything in. */
const diskMiB = 450;

/**
 * Fills the disk under svc, first nearly and then to the last byte: reads work, pushes are told to
 * come back, and it recovers by itself.
 */
export async function run({ rounds = 5 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-telemetry-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'none', dir], {
      stdio: 'pipe',
    });
  } catch (error) {
    rmSync(dir, { recursive: true });
    return { ok: true, skipped: `a small disk cannot be mounted here: ${messageOf(error)}` };
  }
  const filler = join(dir, 'filler');
  const epoch = Date.now() - 60_000;
  let house: WholeHouse | undefined;
  try {
    house = await startWholeHouse({ dataDir: join(dir, 'data') });
    const sent: Record<Signal, number> = { metrics: 0, logs: 0, traces: 0 };
    let refused = 0;
    let slowestRecoveryMs = 0;
    for (const round of counted(rounds, 'rounds')) {
      for (let push = 0; push < 20; push++) {
        for (const signal of signals) {
          assert.equal(
            (await send(house, signal, sent[signal]++, epoch)).status < 300,
            true,
            `round ${round}: there is room`,
          );
        }
      }
      for (const leave of [100 * mebibyte, 0]) {
        fillUp(filler, leave);
        for (const signal of signals) {
          refused += await untilRefused(house, signal, sent, epoch);
          const found = await readBack(house, signal, { from: 0, to: sent[signal], epoch });
          assert.equal(
            found.size,
            sent[signal],
            `round ${round}: all of ${signal} can be read with ${leave} bytes free`,
          );
        }
        assert.equal((await house.fetch('/api/v1/observability/dashboards/manager')).status, 200);
      }
      rmSync(filler);
      const freed = performance.now();
      for (const signal of signals) {
        await untilTaken(house, signal, sent, epoch);
      }
      slowestRecoveryMs = Math.max(slowestRecoveryMs, performance.now() - freed);
    }
    await house.end('SIGKILL');
    house = await startWholeHouse({ dataDir: join(dir, 'data') });
    for (const signal of signals) {
      assert.equal(
        (await readBack(house, signal, { from: 0, to: sent[signal], epoch })).size,
        sent[signal],
        `${signal} after a kill`,
      );
    }
    return {
      ok: true,
      rounds,
      'acknowledged pushes': sent.metrics + sent.logs + sent.traces,
      refused,
      'slowest recovery, ms': Math.round(slowestRecoveryMs),
    };
  } finally {
    await house?.end('SIGKILL');
    execFileSync('umount', ['--lazy', dir]);
    rmSync(dir, { recursive: true });
  }
}

async function send(
  house: WholeHouse,
  signal: Signal,
  number: number,
  epoch: number,
): Promise<{ status: number; retryAfter: string | null; text: string }> {
  const { path, type, encoding, body } = parcelOf(signal, number, epoch);
  const headers = {
    'content-type': type,
    ...(encoding !== undefined && { 'content-encoding': encoding }),
  };
  const answer = await house.fetch(path, { method: 'POST', headers, body });
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    text: await answer.text(),
  };
}

/** Stores look at the disk now and then: what they still take in before is acknowledged, and counts. */
async function untilRefused(
  house: WholeHouse,
  signal: Signal,
  sent: Record<Signal, number>,
  epoch: number,
): Promise<number> {
  for (const deadline = performance.now() + 30_000; ; await pause(50)) {
    const { status, retryAfter, text } = await send(house, signal, sent[signal], epoch);
    if (status >= 300) {
      assert.ok(status === 429 || status === 503, `${signal} answered ${status}: ${text}`);
      assert.ok(Number(retryAfter) > 0, `${signal} says when to come back`);
      return 1;
    }
    sent[signal]++;
    assert.ok(performance.now() < deadline, `within 30 s: pushes of ${signal} are refused`);
  }
}

async function untilTaken(
  house: WholeHouse,
  signal: Signal,
  sent: Record<Signal, number>,
  epoch: number,
): Promise<void> {
  for (const deadline = performance.now() + 60_000; ; await pause(50)) {
    const { status, text } = await send(house, signal, sent[signal], epoch);
    if (status < 300) {
      sent[signal]++;
      return;
    }
    assert.ok(performance.now() < deadline, `within 60 s: ${signal} takes pushes again; ${text}`);
  }
}

/** Writes until only `leave` bytes are left. */
function fillUp(file: string, leave: number): void {
  const chunk = Buffer.alloc(64 * 1024, 1);
  const descriptor = openSync(file, 'a');
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(file);
      if (bavail * bsize <= leave) {
        return;
      }
      writeSync(descriptor, chunk);
    }
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  } finally {
    closeSync(descriptor);
  }
}
