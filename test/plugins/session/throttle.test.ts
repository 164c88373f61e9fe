import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Tally } from '../../../plugins/session/tally.ts';
import { network } from '../../../plugins/session/throttle.ts';
import { movableClock } from './people.ts';

test('failures count for ten minutes each, and then one by one no longer', () => {
  const clock = movableClock();
  const tally = new Tally({ limit: 3, windowMs: 600_000, clock });
  for (let i = 0; i < 3; i++) {
    tally.begin('a')(true);
    clock.move(100_000);
  }
  assert.equal(tally.waitMs('a'), 300_000);
  assert.equal(tally.waitMs('b'), 0);
  clock.move(300_000);
  assert.equal(tally.waitMs('a'), 0);
  tally.begin('a')(true);
  assert.equal(tally.waitMs('a'), 100_000);
});

test('tries under way count until they end well', () => {
  const tally = new Tally({ limit: 2, windowMs: 600_000, clock: movableClock() });
  const ends = [tally.begin('a'), tally.begin('a')];
  assert.equal(tally.waitMs('a'), 1_000);
  ends.forEach((end) => end(false));
  assert.equal(tally.waitMs('a'), 0);
});

test('a flood of keys takes bounded room and pushes out the oldest', () => {
  const tally = new Tally({ limit: 1, windowMs: 600_000, clock: movableClock(), mostKeys: 100 });
  for (let i = 0; i < 1_000; i++) {
    tally.begin(`key ${i}`)(true);
  }
  const held = Array.from({ length: 1_000 }, (_, i) => tally.waitMs(`key ${i}`) > 0);
  assert.equal(held.filter(Boolean).length, 100);
  assert.ok(held.slice(-100).every(Boolean));
});

test('one customer of a provider is one place, however many IPv6 addresses they have', () => {
  assert.equal(network('192.0.2.7'), '192.0.2.7');
  assert.equal(network('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
  assert.equal(network('2001:db8:1:2::6'), '2001:db8:1:2');
  assert.equal(network('2001:0DB8:0001:0002::'), '2001:db8:1:2');
  assert.equal(network('2001:db8::1'), '2001:db8:0:0');
  assert.equal(network('::1'), '0:0:0:0');
  assert.equal(network('fe80::1%eth0'), 'fe80:0:0:0');
  assert.equal(network(''), '');
});
