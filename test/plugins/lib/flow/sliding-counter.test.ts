import assert from 'node:assert/strict';
import { test } from 'node:test';

import { networkOf, SlidingCounter } from 'svc/flow';

function movableClock() {
  let now = 0;
  return { monotonic: () => now, move: (ms: number) => void (now += ms) };
}

test('failures count for ten minutes each, and then one by one no longer', () => {
  const clock = movableClock();
  const counter = new SlidingCounter({ limit: 3, windowMs: 600_000, clock });
  for (let i = 0; i < 3; i++) {
    counter.begin('a')(true);
    clock.move(100_000);
  }
  assert.equal(counter.waitMs('a'), 300_000);
  assert.equal(counter.waitMs('b'), 0);
  clock.move(300_000);
  assert.equal(counter.waitMs('a'), 0);
  counter.begin('a')(true);
  assert.equal(counter.waitMs('a'), 100_000);
});

test('tries under way count until they end well', () => {
  const counter = new SlidingCounter({ limit: 2, windowMs: 600_000, clock: movableClock() });
  const ends = [counter.begin('a'), counter.begin('a')];
  assert.equal(counter.waitMs('a'), 1_000);
  ends.forEach((end) => end(false));
  assert.equal(counter.waitMs('a'), 0);
});

test('a flood of keys takes bounded room and pushes out the oldest', () => {
  const counter = new SlidingCounter({
    limit: 1,
    windowMs: 600_000,
    clock: movableClock(),
    maxKeys: 100,
  });
  for (let i = 0; i < 1_000; i++) {
    counter.begin(`key ${i}`)(true);
  }
  const held = Array.from({ length: 1_000 }, (_, i) => counter.waitMs(`key ${i}`) > 0);
  assert.equal(held.filter(Boolean).length, 100);
  assert.ok(held.slice(-100).every(Boolean));
});

test('one customer of a provider is one place, however many IPv6 addresses they have', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7');
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
  assert.equal(networkOf('2001:db8:1:2::6'), '2001:db8:1:2');
  assert.equal(networkOf('2001:0DB8:0001:0002::'), '2001:db8:1:2');
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0');
  assert.equal(networkOf('::1'), '0:0:0:0');
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0');
  assert.equal(networkOf(''), '');
});
