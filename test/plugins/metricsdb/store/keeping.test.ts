import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compactionPlan } from '../../../../plugins/metricsdb/store/blocks/compaction.ts';
import { expired } from '../../../../plugins/metricsdb/store/upkeep/upkeep.ts';
import { hour, matchers, noon, pointsOf, remoteWrite, storeHouse } from './house.ts';

const day = 24 * hour;

const block = (id: number, mint: number, maxt: number, written = maxt) => ({
  id,
  file: `raw-${id}`,
  level: 0,
  mint,
  maxt,
  bytes: 100,
  rows: 10,
  damaged: 0 as const,
  cause: null,
  meta: JSON.stringify({ written }),
});

test('blocks go when they are too old or too many, the oldest first, and never the newest', () => {
  const blocks = [block(1, 0, 1 * day), block(2, 1 * day, 2 * day), block(3, 2 * day, 3 * day)];
  assert.deepEqual(expired(blocks, { maxAgeMs: day, maxBytes: 1e9 }, 3 * day), [1]);
  assert.deepEqual(expired(blocks, { maxAgeMs: 1e15, maxBytes: 150 }, 3 * day), [1, 2]);
  assert.deepEqual(expired(blocks, { maxAgeMs: 0, maxBytes: 0 }, 90 * day), [1, 2]);
});

test('samples of long ago that were loaded just now stay a day', () => {
  const blocks = [block(1, 0, 1, 100 * day), block(2, 99 * day, 100 * day)];
  assert.deepEqual(expired(blocks, { maxAgeMs: day, maxBytes: 1e9 }, 100 * day), []);
  assert.deepEqual(expired(blocks, { maxAgeMs: day, maxBytes: 1e9 }, 101 * day + 1), [1]);
});

test('the blocks of a day become one when the day is over, and many of one window at once', () => {
  const today = Math.floor(noon / day) * day;
  const two = [block(1, today, today + hour), block(2, today + 2 * hour, today + 3 * hour)];
  assert.deepEqual(compactionPlan(two, today + 20 * hour), []);
  assert.deepEqual(
    compactionPlan(two, today + 31 * hour).map(({ id }) => id),
    [1, 2],
  );
  const crowd = [1, 2, 3, 4].map((id) => block(id, today + id, today + 10));
  assert.deepEqual(
    compactionPlan(crowd, today + hour).map(({ id }) => id),
    [1, 2, 3, 4],
  );
});

test('old blocks leave the disk, and the samples of those that stay are read as before', async (t) => {
  const house = await storeHouse(t, { limits: { maxAgeMs: 3 * day } });
  const times: number[] = [];
  for (let at = noon - 6 * day; at <= noon; at += 3 * hour) {
    house.now = at;
    times.push(at);
    await house.store.write([
      { labels: { __name__: 'm', host: 'a' }, time: at, value: at / 1_000 },
    ]);
    await house.store.maintain();
  }
  const { blocks, compactions } = house.store.stats();
  assert.ok(compactions >= 2 && blocks < 20, `${blocks} blocks after ${compactions} compactions`);
  const left = (await pointsOf(house.store, matchers('m')))['__name__=m,host=a']!;
  assert.deepEqual(
    left,
    times.slice(-left.length).map((time) => [time, time / 1_000]),
  );
  assert.ok(
    left[0]![0] >= noon - 5 * day && left[0]![0] <= noon - 3 * day,
    'what lies wholly beyond the age is gone, what touches it is there',
  );
});

test('what senders told about their metrics is known after a restart', async (t) => {
  const house = await storeHouse(t);
  await house.store.push(
    'exposition',
    Buffer.from('# TYPE a gauge\n# HELP a Some.\na 1\n# TYPE b counter\nb 1\n'),
  );
  await house.restart();
  assert.deepEqual(house.store.metadata({ limit: 1 }), [
    { metric: 'a', type: 'gauge', help: 'Some.', unit: '' },
  ]);
  assert.deepEqual(house.store.metadata({ metric: 'nothing' }), []);
});

test('series that nobody sends any more leave the head, and make room for others', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 2 } });
  const rows = (...hosts: readonly string[]) =>
    hosts.map((host) => ({ labels: { __name__: 'm', host }, time: house.now, value: 1 }));
  house.now = noon - 6 * hour;
  await house.store.write(rows('a', 'b'));
  house.now = noon;
  assert.equal((await house.store.write(rows('c'))).rejected, 1);
  await house.store.maintain();
  assert.equal(house.store.stats().series, 0);
  assert.equal((await house.store.write(rows('c'))).accepted, 1);
  assert.deepEqual(Object.keys(await pointsOf(house.store, matchers('m'))), [
    '__name__=m,host=a',
    '__name__=m,host=b',
    '__name__=m,host=c',
  ]);
});

test('a log that holds more than fits into memory is read back through blocks, as often as it is read', async (t) => {
  const limits = { headBytes: 1e9 };
  const house = await storeHouse(t, { limits });
  let seed = 7;
  const noise = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 7;
  const begin = noon;
  house.now = noon + 2 * hour;
  const hosts = Array.from({ length: 150 }, (_, host) => String(host));
  for (let at = begin; at < begin + 2 * hour; at += hour / 4) {
    const times = Array.from({ length: 180 }, (_, i) => at + i * 5_000);
    await house.store.write(
      times.flatMap((time) =>
        hosts.map((host) => ({ labels: { __name__: 'm', host }, time, value: noise() })),
      ),
    );
  }
  const told = await pointsOf(house.store, matchers('m'));
  const before = house.store.stats();
  assert.equal(before.blocks, 0);
  limits.headBytes = 1;
  await house.restart();
  const after = house.store.stats();
  assert.ok(
    after.blocks > 0 && after.headBytes < before.headBytes,
    `${after.blocks} blocks, ${after.headBytes} bytes of ${before.headBytes}`,
  );
  assert.deepEqual(await pointsOf(house.store, matchers('m')), told);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('m')), told);
});

test('what is loaded from days before makes a block of each day', async (t) => {
  const house = await storeHouse(t);
  const labels = [['__name__', 'old']] as const;
  await house.store.push(
    'remote-write',
    remoteWrite([{ labels: [['__name__', 'up']], points: [[noon, 1]] }]),
    { encoding: 'snappy' },
  );
  const points = Array.from(
    { length: 5 * 12 },
    (_, at) => [noon - 5 * day + at * 2 * hour, at] as const,
  );
  await house.store.push('remote-write', remoteWrite([{ labels, points }]), { encoding: 'snappy' });
  house.now += 3 * hour;
  await house.store.maintain();
  assert.ok(house.store.stats().blocks >= 5, `${house.store.stats().blocks} blocks for five days`);
  assert.deepEqual(Object.values(await pointsOf(house.store, matchers('old')))[0], points);
  await house.restart();
  assert.deepEqual(Object.values(await pointsOf(house.store, matchers('old')))[0], points);
});
