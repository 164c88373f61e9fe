import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { TunnelSession } from 'svc/tunnel';

import { ClockCheck } from '../../../plugins/edge-uplink/clock-check.ts';

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Simulates a manager whose clock is behind, and records what it is sent. */
function world(behindMs: number) {
  const time = {
    wall: 1_790_000_000_000,
    passed: 1_000,
    thereMs: 0,
    backMs: 0,
    setMs: 0,
    knows: true,
  };
  const told: number[] = [];
  const pass = (ms: number): void =>
    void ([time.wall, time.passed] = [time.wall + ms, time.passed + ms]);
  const session = {
    async call(
      _method: string,
      { event, payload }: { event: string; payload: { skew_ms?: number } },
    ) {
      assert.equal(event, 'clock');
      if (!time.knows) {
        throw new Error('there is no event "clock"');
      }
      if (payload.skew_ms !== undefined) {
        told.push(payload.skew_ms);
      }
      pass(time.thereMs);
      const now = time.wall - behindMs;
      pass(time.backMs);
      time.wall += time.setMs;
      return { now };
    },
  } as unknown as TunnelSession;
  const clock = { now: () => time.wall, monotonic: () => time.passed };
  return { time, told, check: new ClockCheck({ session: () => session, clock, log }) };
}

test('the clock is compared over the tunnel, and what waited on the way is not told as a wrong clock', async () => {
  const { time, told, check } = world(30_000);
  await check.look();
  Object.assign(time, { thereMs: 200, backMs: 200 });
  await check.look();
  assert.deepEqual(told.splice(0), [30_000, 30_000]);
  // A manager that stood still, on the way there or on the way back; a clock that was set meanwhile.
  for (const trouble of [{ thereMs: 22_504 }, { backMs: 22_504 }, { setMs: 3_600_000 }]) {
    Object.assign(time, { thereMs: 0, backMs: 0, setMs: 0 }, trouble);
    await check.look();
  }
  assert.deepEqual(told, []);
  Object.assign(time, { thereMs: 0, backMs: 0, setMs: 0 });
  await check.look();
  assert.deepEqual(told, [30_000], 'it is told at the next look');
});

test('a manager that does not know of clocks, and none at all, are no trouble', async () => {
  const { time, told, check } = world(30_000);
  time.knows = false;
  await check.look();
  assert.deepEqual(told, []);
  await new ClockCheck({
    session: () => undefined,
    clock: { now: () => 0, monotonic: () => 0 },
    log,
  }).look();
});
