import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import type { Selection } from '../../../../plugins/metricsdb/store/columns/selection.ts';
import { openMetricsStore } from '../../../../plugins/metricsdb/store/open-store.ts';
import {
  free,
  hour,
  matchers,
  noon,
  pointsOf,
  silent,
  storeHouse,
  type StoreHouse,
} from './house.ts';

const day = 24 * hour;

const all = (metric: string): Selection => ({
  selectors: [[{ name: '__name__', op: '=', value: metric }]],
  mint: -8.64e15,
  maxt: 8.64e15,
});

/** Writes one sample of `bad` and of `good` for each of these hosts. */
const write = ({ store, now }: StoreHouse, hosts: readonly string[]) =>
  store.write(
    ['bad', 'good'].flatMap((metric) =>
      hosts.map((host) => ({ labels: { __name__: metric, host }, time: now, value: 1 })),
    ),
  );

const namesOf = async ({ store }: StoreHouse) => Object.keys(await pointsOf(store, []));

test('dropped series stop counting at once, leave every block, and may come again', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 4 } });
  for (const ago of [3 * day, 2 * day, day, 0]) {
    house.now = noon - ago;
    await write(house, ['a', 'b']);
    await house.store.maintain();
  }

  assert.equal((await write(house, ['c'])).rejected, 2);
  const drop = await house.store.drop(all('bad'), 'Ada');
  assert.deepEqual([drop.series, house.store.stats().series], [2, 2]);
  assert.equal(
    (await house.store.write([{ labels: { __name__: 'new' }, time: noon, value: 1 }])).accepted,
    1,
  );
  await house.store.maintain();
  const [ended] = house.store.drops();
  assert.deepEqual(
    [ended!.asker, ended!.done, ended!.blocks >= 3, ended!.ended !== undefined],
    ['Ada', ended!.blocks, true, true],
  );
  const left = await pointsOf(house.store, []);
  assert.deepEqual(Object.keys(left), [
    '__name__=good,host=a',
    '__name__=good,host=b',
    '__name__=new',
  ]);
  assert.equal(left['__name__=good,host=a']!.length, 4);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, []), left);
  house.now += 1_000;
  await house.store.write([{ labels: { __name__: 'bad', host: 'a' }, time: house.now, value: 7 }]);
  await house.store.maintain();
  assert.deepEqual(await pointsOf(house.store, matchers('bad')), {
    '__name__=bad,host=a': [[house.now, 7]],
  });
});

test('of a series that is dropped between two times the rest stays, in memory and in blocks', async (t) => {
  const house = await storeHouse(t);
  const times = [
    noon - 30 * hour,
    noon - 29 * hour,
    noon - 28 * hour,
    noon - 20_000,
    noon - 10_000,
    noon,
  ];
  for (const time of times) {
    house.now = time;
    await write(house, ['a']);
  }
  await house.store.maintain();
  for (const maxt of [times[1]!, times[4]!]) {
    await house.store.drop({ ...all('bad'), mint: maxt, maxt }, 'Ada');
  }
  await house.store.maintain();
  const kept = times.filter((_, at) => at !== 1 && at !== 4);
  for (const _ of ['before', 'after a restart']) {
    assert.deepEqual(await pointsOf(house.store, []), {
      '__name__=bad,host=a': kept.map((time) => [time, 1]),
      '__name__=good,host=a': times.map((time) => [time, 1]),
    });
    await house.restart();
  }
});

test('a drop that is killed at any step is complete after the next start', async (t) => {
  const house = await storeHouse(t);
  for (const ago of [2 * day, day, 0]) {
    house.now = noon - ago;
    await write(house, ['a']);
    await house.store.maintain();
  }
  const copies = mkdtempSync(join(tmpdir(), 'svc-drop-'));
  t.after(() => rmSync(copies, { recursive: true, force: true }));
  const copy = (name: string): string => {
    const folder = join(copies, name);
    cpSync(house.folder, folder, { recursive: true });
    return folder;
  };
  await house.store.drop(all('bad'), 'Ada');
  const folders = [copy('with all blocks')];
  house.now += 1_000;
  await write(house, ['b']);
  folders.push(copy('with something new'));
  await house.store.maintain();
  folders.push(copy('ended'));
  for (const [at, folder] of folders.entries()) {
    const store = await openMetricsStore({
      folder,
      now: () => house.now,
      log: silent,
      disk: { minFreeShare: 0, minFreeBytes: 0 },
    });
    await store.maintain();
    assert.deepEqual(
      Object.keys(await pointsOf(store, matchers('bad'))),
      at === 0 ? [] : ['__name__=bad,host=b'],
      folder,
    );
    assert.equal((await pointsOf(store, matchers('good')))['__name__=good,host=a']!.length, 3);
    assert.ok(store.drops().every(({ ended }) => ended !== undefined));
    await store.close();
  }
  assert.equal((await namesOf(house)).length, 3);
});

test('pushes that come during a drop are kept', async (t) => {
  const house = await storeHouse(t);
  await write(house, ['a', 'b', 'c']);
  const pushes = [];
  for (let at = 1; at <= 40; at++) {
    house.now = noon + at;
    pushes.push(write(house, ['a', `n${at}`]));
    if (at % 10 === 5) {
      pushes.push(house.store.drop(all('bad'), 'Ada'));
    }
  }
  await Promise.all(pushes);
  house.now += 1;
  await write(house, ['a']);
  const before = await pointsOf(house.store, []);
  assert.equal(before['__name__=good,host=a']!.length, 42);
  assert.equal(before['__name__=good,host=n40']!.length, 1);
  assert.ok(before['__name__=bad,host=a']!.length >= 1);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, []), before);
});

test('exemplars go with the samples that are dropped', async (t) => {
  const house = await storeHouse(t);
  for (const time of [noon, noon + 5_000]) {
    house.now = time;
    const text = `bad_total{host="a"} 1 # {trace_id="t"} 1 ${time / 1_000}\n# EOF\n`;
    assert.equal((await house.store.push('openmetrics', Buffer.from(text))).exemplars, 1);
  }
  await house.store.drop({ ...all('bad_total'), maxt: noon }, 'Ada');
  for (const _ of ['before', 'after a restart']) {
    const [found] = await house.store.exemplars(
      [matchers('bad_total')],
      { mint: 0, maxt: noon + hour },
      free(),
    );
    assert.deepEqual(
      found!.exemplars.map(({ time }) => time),
      [noon + 5_000],
    );
    await house.restart();
  }
});
