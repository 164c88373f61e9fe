import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { startTestHost, type TestHost } from 'svc/testing';

import { MillWork } from '../../fixtures/plugins/mill/index.ts';

const mill = join(import.meta.dirname, '../../fixtures/plugins/mill');

interface Job {
  readonly id: string;
  readonly state: string;
  readonly title: string;
  readonly plugin: string;
  readonly error: string | null;
  readonly cancellable: boolean;
}
interface Page {
  readonly items: readonly Job[];
  readonly total: number;
  readonly next_cursor: string;
}

async function jobsThat(
  house: TestHost,
  query: string,
  fit: (page: Page) => boolean,
): Promise<Page> {
  for (const deadline = Date.now() + 60_000; ; await sleep(20)) {
    const page = await house.json<Page>(`/api/v1/jobs${query}`);
    if (fit(page)) {
      return page;
    }
    assert.ok(Date.now() < deadline, JSON.stringify(page));
  }
}

test('jobs of every plugin are one list, page by page, and one that waits or runs is cancelled', async (t) => {
  const house = await startTestHost(t, { plugins: ['jobs', mill] });
  await house.service(MillWork).grind('stone', 'wheat', 'rye');
  const { items } = await jobsThat(
    house,
    '',
    ({ items: found }) =>
      found
        .map(({ state }) => state)
        .toSorted()
        .join() === 'failed,running,waiting',
  );
  const [rye, wheat, stone] = ['rye', 'wheat', 'stone'].map((sack) =>
    items.find(({ title }) => title === `Grind ${sack}`)!,
  );
  assert.deepEqual(
    [stone!.plugin, stone!.state, stone!.error, stone!.cancellable],
    ['mill', 'failed', 'too hard', false],
  );
  assert.deepEqual([wheat!.state, rye!.state], ['running', 'waiting']);
  const first = await house.json<Page>('/api/v1/jobs?limit=2');
  const second = await house.json<Page>(`/api/v1/jobs?limit=2&cursor=${first.next_cursor}`);
  assert.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    items.map(({ id }) => id),
  );
  assert.equal(first.total, 3);
  assert.equal((await house.json<Page>('/api/v1/jobs?plugin=other')).total, 0);
  const cancel = (id: string): Promise<Response> =>
    house.fetch(`/api/v1/jobs/${id}/cancel`, { method: 'POST' });
  for (const { id } of [wheat!, rye!]) {
    assert.equal((await cancel(id)).status, 200);
  }
  await jobsThat(house, '?state=cancelled', ({ total }) => total === 2);
  assert.equal((await cancel(rye!.id)).status, 409);
  assert.equal((await cancel('none')).status, 404);
});

test('a plugin that leaves takes its jobs off the list, and finds them when it is back', async (t) => {
  const house = await startTestHost(t, { plugins: ['jobs', mill] });
  await house.service(MillWork).grind('wheat');
  const { items } = await jobsThat(house, '?state=running', (page) => page.items.length === 1);
  await house.reload('mill');
  const after = await jobsThat(house, '?state=running', (page) => page.items.length === 1);
  assert.equal(after.items[0]!.id, items[0]!.id);
  await house.json(`/api/v1/jobs/${items[0]!.id}/cancel`, { method: 'POST' });
  await jobsThat(house, '?state=cancelled', ({ total }) => total === 1);
});
