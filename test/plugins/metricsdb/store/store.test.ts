import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  free,
  hour,
  matchers,
  noon,
  pointsOf,
  remoteWrite,
  storeHouse,
  type Point,
} from './house.ts';

const second = 1_000;

function labelled(name: string, ...pairs: readonly string[]): [string, string][] {
  return [['__name__', name], ...pairs.map((pair) => pair.split('=') as [string, string])];
}

const line = (
  from: number,
  count: number,
  step: number,
  value: (i: number) => number = (i) => i,
): Point[] => Array.from({ length: count }, (_, i) => [from + i * step, value(i)] as const);

test('what was sent can be read at once, after a cut into blocks, and after a restart of either', async (t) => {
  const house = await storeHouse(t);
  const begin = noon - 5 * hour;
  const sent = {
    a: line(begin, 1_200, 15 * second, (i) => i * 0.25),
    b: line(begin + 137, 1_200, 15 * second, (i) => Math.sin(i) * 1e6),
  };
  for (let from = 0; from < 1_200; from += 100) {
    const answer = await house.store.push(
      'remote-write',
      remoteWrite([
        { labels: labelled('load', 'host=a'), points: sent.a.slice(from, from + 100) },
        { labels: labelled('load', 'host=b'), points: sent.b.slice(from, from + 100) },
      ]),
      { encoding: 'snappy' },
    );
    assert.deepEqual(answer, { accepted: 200, rejected: 0, reasons: [] });
  }
  const expected = { '__name__=load,host=a': sent.a, '__name__=load,host=b': sent.b };
  assert.deepEqual(await pointsOf(house.store, matchers('load')), expected);
  await house.store.maintain();
  assert.ok(house.store.stats().blocks >= 2, 'full windows went to blocks');
  assert.deepEqual(await pointsOf(house.store, matchers('load')), expected);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('load')), expected);
  assert.deepEqual(
    await pointsOf(house.store, matchers('load', 'host=~a|c'), begin, begin + hour),
    {
      '__name__=load,host=a': sent.a.filter(([time]) => time > begin && time <= begin + hour),
    },
  );
});

test('staleness markers are told apart from values, in the head, in blocks and after a restart', async (t) => {
  const house = await storeHouse(t);
  const points: Point[] = [
    [noon - 3 * hour, 7],
    [noon - 3 * hour + 1_000, 'stale'],
    [noon - 3 * hour + 2_000, NaN],
    [noon - 1_000, 8],
    [noon, 'stale'],
  ];
  await house.store.push('remote-write', remoteWrite([{ labels: labelled('up'), points }]), {
    encoding: 'snappy',
  });
  const expected = { '__name__=up': points };
  assert.deepEqual(await pointsOf(house.store, matchers('up')), expected);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('up')), expected);
  await house.store.maintain();
  assert.equal(house.store.stats().blocks, 1);
  assert.deepEqual(await pointsOf(house.store, matchers('up')), expected);
  await house.restart();
  assert.deepEqual(await pointsOf(house.store, matchers('up')), expected);
});

test('a sample may come ten minutes late, once; older ones and other values for a time that is taken are refused with the reason', async (t) => {
  const house = await storeHouse(t);
  const push = (points: readonly Point[]) =>
    house.store.push(
      'remote-write',
      remoteWrite([{ labels: labelled('temp', 'room=1'), points }]),
      { encoding: 'snappy' },
    );
  await push([[noon, 1]]);
  assert.deepEqual(await push([[noon - 60_000, 0.5]]), { accepted: 1, rejected: 0, reasons: [] });
  assert.deepEqual(await push([[noon, 1]]), { accepted: 1, rejected: 0, reasons: [] });
  assert.deepEqual(await push([[noon, 2]]), {
    accepted: 0,
    rejected: 1,
    reasons: ['duplicate sample for timestamp: temp{room="1"}'],
  });
  assert.deepEqual(
    await push([
      [noon - 600_001, 2],
      [noon - 700_000, 3],
    ]),
    { accepted: 0, rejected: 2, reasons: ['out of order sample: temp{room="1"} (2 times)'] },
  );
  assert.deepEqual(await push([[noon + 600_001, 2]]), {
    accepted: 0,
    rejected: 1,
    reasons: ['a sample is too far in the future: temp{room="1"}'],
  });
  assert.deepEqual(await pointsOf(house.store, matchers('temp')), {
    '__name__=temp,room=1': [
      [noon - 60_000, 0.5],
      [noon, 1],
    ],
  });
});

test('samples of any age are taken, as long as their series has nothing newer', async (t) => {
  const house = await storeHouse(t);
  const old = line(0, 50, 60_000);
  await house.store.push(
    'remote-write',
    remoteWrite([
      { labels: labelled('ancient'), points: old },
      { labels: labelled('fresh'), points: [[noon, 1]] },
    ]),
    { encoding: 'snappy' },
  );
  await house.store.push(
    'remote-write',
    remoteWrite([{ labels: labelled('older'), points: [[-1_000, 4]] }]),
    { encoding: 'snappy' },
  );
  assert.deepEqual(await pointsOf(house.store, [], -1e12, 3 * hour), {
    '__name__=ancient': old,
    '__name__=older': [[-1_000, 4]],
  });
});

test('labels, their values and series can be listed, by selector and window, across head and blocks', async (t) => {
  const house = await storeHouse(t);
  await house.store.write([
    { labels: { __name__: 'a', host: 'x' }, time: noon - 6 * hour, value: 1 },
    { labels: { __name__: 'b', host: 'y', zone: 'z' }, time: noon, value: 1 },
  ]);
  await house.store.maintain();
  const all = { mint: 0, maxt: noon };
  const late = { mint: noon - hour, maxt: noon };
  assert.deepEqual(await house.store.labels([], all, free()), ['__name__', 'host', 'zone']);
  assert.deepEqual(await house.store.labels([matchers('a')], all, free()), ['__name__', 'host']);
  assert.deepEqual(await house.store.labelValues('host', [], all, free()), ['x', 'y']);
  assert.deepEqual(await house.store.labelValues('host', [], late, free()), ['y']);
  assert.deepEqual(
    await house.store.labelValues('__name__', [matchers('', 'zone=z')], all, free()),
    ['b'],
  );
  assert.deepEqual(await house.store.labelValues('nothing', [], all, free()), []);
  assert.deepEqual(await house.store.series([matchers('a'), matchers('', 'host=y')], all, free()), [
    ['__name__', 'a', 'host', 'x'],
    ['__name__', 'b', 'host', 'y', 'zone', 'z'],
  ]);
});

test('the stamp of the manager replaces what a sender says about itself', async (t) => {
  const house = await storeHouse(t);
  const body = remoteWrite([
    { labels: labelled('m', 'device_id=forged', 'job=x'), points: [[noon, 1]] },
  ]);
  await house.store.push('remote-write', body, {
    encoding: 'snappy',
    stamp: { device_id: '7', edge_id: '9' },
  });
  await house.store.push('remote-write', body, { encoding: 'snappy', stamp: { device_id: '8' } });
  await house.store.push('remote-write', body, {
    encoding: 'snappy',
    stamp: { device_id: '7', edge_id: '9' },
  });
  assert.deepEqual(Object.keys(await pointsOf(house.store, matchers('m'))), [
    '__name__=m,device_id=7,edge_id=9,job=x',
    '__name__=m,device_id=8,job=x',
  ]);
});

test('ending series marks those that go on, and only those', async (t) => {
  const house = await storeHouse(t);
  await house.store.write([
    { labels: { __name__: 'up', host: 'a' }, time: noon - 1_000, value: 1 },
    { labels: { __name__: 'up', host: 'b' }, time: noon - 1_000, value: 1 },
  ]);
  assert.equal(await house.store.end(matchers('', 'host=a'), noon), 1);
  assert.equal(await house.store.end(matchers('', 'host=a'), noon + 1), 0);
  assert.deepEqual(await pointsOf(house.store, matchers('up')), {
    '__name__=up,host=a': [
      [noon - 1_000, 1],
      [noon, 'stale'],
    ],
    '__name__=up,host=b': [[noon - 1_000, 1]],
  });
});

test('past the limit new series are refused with the reason, and those that are there go on', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 2 } });
  const rows = (time: number) =>
    ['a', 'b', 'c'].map((host) => ({ labels: { __name__: 'up', host }, time, value: 1 }));
  const answer = await house.store.write(rows(noon));
  assert.deepEqual(answer, {
    accepted: 2,
    rejected: 1,
    reasons: [
      'the limit of 2 series is reached; new series are refused, existing ones are not affected',
    ],
  });
  assert.equal((await house.store.write(rows(noon + 1))).accepted, 2);
});

test('the labels of all series together are bounded, too', async (t) => {
  const house = await storeHouse(t, { limits: { maxLabelBytes: 1_000 } });
  const rows = Array.from({ length: 4 }, (_, i) => ({
    labels: { __name__: 'm', text: `${i}`.repeat(600) },
    time: noon,
    value: 1,
  }));
  const answer = await house.store.write(rows);
  assert.deepEqual(answer, {
    accepted: 2,
    rejected: 2,
    reasons: [
      'the labels of all series take 1000 bytes, which is the limit; new series are refused, existing ones are not affected (2 times)',
    ],
  });
});
