import assert from 'node:assert/strict';
import { test } from 'node:test';

import { metricsHouse } from './house.ts';

const heavy = 'stddev_over_time(vector(time())[3h:1s])';

test(
  'queries of one person keep neither rules nor another person waiting, and those that go over too much are refused at once',
  { timeout: 60_000 },
  async (t) => {
    const { queries, set } = await metricsHouse(t);
    await set('query_cpu', '1s');
    const end = Math.floor(Date.now() / 1_000) * 1_000;
    const ended: string[] = [];
    const reads = Array.from({ length: 4 }, async () => {
      const answer = await queries
        .range(heavy, { start: end - 11_000_000, end, step: 1_000 }, { asker: 'person 1' })
        .catch((error: unknown) => error);
      ended.push(answer instanceof Error ? 'refused' : 'heavy');
    });
    await queries.instants!(['vector(1) > 0', '1'], end);
    ended.push('rules');
    await queries.instant('1', end, { asker: 'person 2' });
    ended.push('other');
    await Promise.all(reads);
    assert.deepEqual(ended.slice(0, 2), ['rules', 'other']);
    assert.equal(ended.length, 6);
  },
);

test('what would be gone over is counted before it is', async (t) => {
  const { get } = await metricsHouse(t);
  const end = Math.floor(Date.now() / 1_000);
  const { status, body } = await get('query_range', {
    query: 'sum_over_time(vector(1)[1d:1s])',
    start: end - 11_000,
    end,
    step: 1,
  });
  assert.equal(status, 422);
  assert.match(
    body.error,
    /would go over \d+ samples in its ranges, more than 750000000: ask for shorter ranges/,
  );
});
