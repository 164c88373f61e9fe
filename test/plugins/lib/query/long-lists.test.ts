import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eachOf, sortedList, sortNumbers } from 'svc/query';

/** Counts how often others had a turn. */
function breaths(): { count: number; breathe(): Promise<void> } {
  return {
    count: 0,
    breathe() {
      this.count++;
      return Promise.resolve();
    },
  };
}

function numbers(count: number): number[] {
  let state = 7;
  return Array.from({ length: count }, () => (state = (state * 48_271) % 2_147_483_647) % 1_000);
}

test('every item is visited once, in order, with breaths between', async () => {
  const budget = breaths();
  const seen: number[] = [];
  await eachOf(Array(1_000).keys(), budget, (item) => seen.push(item));
  assert.deepEqual(seen, [...Array(1_000).keys()]);
  assert.equal(budget.count, 3);
});

test('a long list is sorted as a short one is, equals in their order', async () => {
  const budget = breaths();
  const items = numbers(9_000).map((value, at) => ({ value, at }));
  const compare = (a: { value: number }, b: { value: number }): number => a.value - b.value;
  assert.deepEqual(await sortedList(items, compare, budget), items.toSorted(compare));
  assert.ok(budget.count > 30, String(budget.count));
  assert.deepEqual(await sortedList([3, 1, 2], (a, b) => a - b, budget), [1, 2, 3]);
});

test('many numbers are sorted as typed arrays sort them, NaN and -0 too', async () => {
  for (const length of [0, 1, 65_536, 65_537, 300_001]) {
    const values = Float64Array.from(numbers(length), (value, at) =>
      at % 97 === 0 ? NaN : at % 89 === 0 ? -0 : at % 83 === 0 ? 0 : value - 500,
    );
    const expected = values.toSorted();
    await sortNumbers(values, breaths());
    assert.deepEqual(Buffer.from(values.buffer), Buffer.from(expected.buffer), String(length));
  }
});
