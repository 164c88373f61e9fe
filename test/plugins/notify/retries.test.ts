import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isTriedAgain, soonTries } from '../../../plugins/notify/queue/retries.ts';
import type { Delivery } from '../../../plugins/notify/store/tables.ts';

const later = { result: 'retry', reason: 'the platform answered 502', unclear: false } as const;
const refused = { result: 'failed', reason: 'no', degraded: false, unclear: false } as const;
const delivery = (kind: string, attempts: number): Delivery =>
  ({ kind, attempts, group_key: 'x' }) as Delivery;

test('a reminder is tried a few times, a firing as long as it lasts, an end for about a day', () => {
  const again = (kind: string, attempts: number, isRefused = false): boolean =>
    isTriedAgain(delivery(kind, attempts), isRefused ? refused : later);
  assert.deepEqual(
    [again('reminder', 1), again('reminder', soonTries - 1), again('reminder', soonTries)],
    [true, true, false],
  );
  assert.equal(again('reminder', 1, true), false);
  assert.deepEqual([again('firing', 1_000), again('firing', 1_000, true)], [true, true]);
  assert.deepEqual([again('resolved', 289), again('resolved', 290)], [true, false]);
  assert.equal(again('test', 1), false);
  assert.equal(isTriedAgain(delivery('firing', 1), { ...refused, unclear: true }), false);
});
