import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { TokenBucket } from 'svc/flow';

test('a bucket never lets through more than its rate and burst, and one more', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.array(
        fc.record({
          after: fc.integer({ min: 0, max: 3_000 }),
          amount: fc.integer({ min: 0, max: 500 }),
        }),
        { maxLength: 50 },
      ),
      (rate, burst, pushes) => {
        const bucket = new TokenBucket(burst, 0);
        let [now, passed, largest] = [0, 0, 0];
        for (const { after, amount } of pushes) {
          now += after;
          const wait = bucket.wait(rate, burst, now);
          if (wait === 0) {
            bucket.spend(amount);
            passed += amount;
            largest = Math.max(largest, amount);
          } else {
            assert.ok(
              bucket.wait(rate, burst, now + wait * 1_000 + 1) === 0,
              'after the wait that it names it lets through',
            );
            now += wait * 1_000 + 1;
          }
        }
        assert.ok(passed <= burst + (now / 1_000) * rate + largest + 1e-6, `${passed}`);
      },
    ),
  );
});

test('a part of a token is none: one is waited for until it is whole', () => {
  const bucket = new TokenBucket(1, 0);
  bucket.spend(1);
  assert.equal(bucket.wait(1, 1, 250), 0.75);
  assert.deepEqual(
    [250, 999, 1_000].map((at) => bucket.take(1, 1, at)),
    [false, false, true],
  );
});
