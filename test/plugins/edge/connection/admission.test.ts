import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AdmissionQueue } from '../../../../plugins/edge/connection/admission-queue.ts';
import { HandshakeLimits } from '../../../../plugins/edge/connection/handshake-limits.ts';

test('an address that fails to prove itself has fewer tries, and no more than so many try at once', () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const handshakes = new HandshakeLimits({
    limits: () => ({ unproved: 3, perSecond: 100, perAddress: 10 }),
    clock,
    random: () => 0,
  });
  const open = [1, 2, 3].map(() => (handshakes.admit('192.0.2.1'), handshakes.begin('192.0.2.1')));
  assert.throws(() => handshakes.admit('192.0.2.9'), { code: 'unavailable', retryAfterSeconds: 1 });
  open[0]!(true);
  open[0]!(true);
  assert.equal(handshakes.unproved, 2);
  handshakes.admit('192.0.2.1');
  open[1]!(false);
  open[2]!(false);
  assert.throws(() => handshakes.admit('192.0.2.1'), { code: 'unavailable' });
  handshakes.admit('192.0.2.2');
  handshakes.admit('2001:db8:0:1::1');
  now += 3_000;
  handshakes.admit('192.0.2.1');
  assert.equal(handshakes.refused, 2);
});

test('a fleet that comes in one moment is let in some at a turn, and no more of it waits than will be let in', async () => {
  let now = 0;
  let admitNext: (() => void) | undefined;
  const queue = new AdmissionQueue({
    clock: { monotonic: () => now },
    random: () => 0,
    nextTurn: (_ms, admit) => (admitNext = admit),
  });
  let inside = 0;
  const refused: unknown[] = [];
  const come = (count: number): void => {
    for (let n = 0; n < count; n += 1) {
      const waits = queue.enter();
      void (waits
        ? waits.then(
            () => (inside += 1),
            (error: unknown) => refused.push(error),
          )
        : (inside += 1));
    }
  };
  const turn = async (ms: number): Promise<number> => {
    const before = inside;
    now += ms;
    const admit = admitNext;
    admitNext = undefined;
    admit?.();
    await Promise.resolve();
    await Promise.resolve();
    return inside - before;
  };

  come(4_000);
  assert.deepEqual([inside, queue.length], [50, 3_950]);
  assert.equal(await turn(50), 50);
  assert.equal(await turn(200), 50);
  come(4_096 - queue.length);
  assert.throws(() => queue.enter(), { code: 'unavailable', retryAfterSeconds: 1 });
  // Who has waited for too long has given up, or is about to.
  assert.equal(await turn(20_000), 0);
  assert.equal(refused.length, 50);
});
