import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ProtoWriter } from 'svc/store';

import { hour, matchers, noon, pointsOf, storeHouse, type StoreHouse } from './house.ts';

/** Pushes one sample of series `[from, to)` of a metric as a sender. */
const send = (
  { store }: StoreHouse,
  sender: string,
  [from, to]: readonly [number, number],
  metric = 'm',
) =>
  store.push(
    'exposition',
    Buffer.from(
      Array.from(
        { length: to - from },
        (_, i) => `${metric}{of="${sender}",n="${from + i}"} 1\n`,
      ).join(''),
    ),
    { sender },
  );

const future = noon + hour;

/** A series of remote write 1 with samples at these times and as many native histograms. */
function series1(name: string, times: readonly number[], histograms: number): Uint8Array {
  const request = new ProtoWriter();
  request.message(1, (out) => {
    out.message(1, (label) => label.string(1, '__name__').string(2, name));
    times.forEach((time) => out.message(2, (sample) => sample.double(1, 1).int64(2, time)));
    for (let i = 0; i < histograms; i++) {
      out.message(4, (histogram) => histogram.uint(1, 3));
    }
  });
  return request.finish();
}

function series2(name: string, times: readonly number[], histograms: number): Uint8Array {
  const request = new ProtoWriter();
  ['', '__name__', name].forEach((symbol) => request.string(4, symbol));
  request.message(5, (out) => {
    out.bytes(1, Buffer.from([1, 2]));
    times.forEach((time) => out.message(2, (sample) => sample.double(1, 1).int64(2, time)));
    for (let i = 0; i < histograms; i++) {
      out.message(3, (histogram) => histogram.uint(1, 3));
    }
  });
  return request.finish();
}

test('what is refused makes no series, in whatever format it comes', async (t) => {
  const house = await storeHouse(t);
  const { store } = house;
  const sent = {
    'native, write 1': await store.push('remote-write', series1('a', [], 3)),
    'native, write 2': await store.push('remote-write-2', series2('b', [], 3)),
    'future, write 1': await store.push('remote-write', series1('c', [future], 0)),
    'future, write 2': await store.push('remote-write-2', series2('d', [future], 0)),
    'future, text': await store.push('exposition', Buffer.from(`e{x="1"} 1 ${future}\n`)),
    'future, delta': await store.push('otlp-json', delta('f', future)),
  };
  for (const [what, { accepted, rejected }] of Object.entries(sent)) {
    assert.deepEqual([accepted, rejected > 0], [0, true], what);
  }
  assert.match(sent['future, text'].reasons[0]!, /too far in the future: e\{x="1"\}/);
  assert.equal(store.stats().series, 0);
  const both = await store.push('remote-write', series1('a', [future, noon], 1));
  assert.deepEqual([both.accepted, both.rejected], [1, 2], 'its good sample makes it');
  assert.equal((await store.push('remote-write', series1('a', [noon + 1], 1))).accepted, 1);
  assert.deepEqual(await pointsOf(store, matchers('a')), {
    '__name__=a': [
      [noon, 1],
      [noon + 1, 1],
    ],
  });
  assert.equal(store.stats().series, 1);
});

function delta(name: string, time: number): Uint8Array {
  const dataPoints = [{ timeUnixNano: `${time}000000`, asDouble: 1 }];
  const sum = { aggregationTemporality: 1, isMonotonic: true, dataPoints };
  const metrics = [{ name, sum }];
  return Buffer.from(JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }));
}

test('a body that is refused half way leaves no series behind', async (t) => {
  const house = await storeHouse(t);
  const corrupt = Buffer.concat([series1('a', [noon], 0), Buffer.from([0x0a, 0x7f])]);
  await assert.rejects(house.store.push('remote-write', corrupt), { code: 'invalid_argument' });
  await house.store.push('remote-write', series1('b', [noon], 0));
  await house.store.maintain();
  assert.equal(house.store.stats().series, 1);
  assert.equal((await house.store.push('remote-write', series1('a', [noon], 0))).accepted, 1);
  assert.equal(Object.keys(await pointsOf(house.store, [])).length, 2);
});

test('however greedy senders are, there is room for the next one', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 10_000, metricShare: 100 } });
  const first = await send(house, 'token 1', [0, 20_000]);
  assert.deepEqual(first, {
    accepted: 8_000,
    rejected: 12_000,
    reasons: [
      'this sender (token 1) has 8000 series, its share of 10000; new series are refused, existing ones are not affected (12000 times)',
    ],
  });
  house.now += 1_000;
  assert.equal((await send(house, 'token 1', [0, 8_000])).accepted, 8_000, 'it goes on');
  assert.equal((await send(house, 'agent 1', [0, 900])).accepted, 900);
  assert.equal((await send(house, 'token 2', [0, 20_000])).accepted, 880);
  assert.equal((await send(house, 'agent 2', [0, 90])).accepted, 90);
  for (let greedy = 3; greedy < 6; greedy++) {
    assert.ok((await send(house, `token ${greedy}`, [0, 20_000])).rejected > 0);
  }
  assert.equal((await send(house, 'agent 3', [0, 1])).accepted, 1);
  assert.deepEqual(
    house.store.cardinality(2).senders.map(({ sender, series }) => [sender, series]),
    [
      ['token 1', 8_000],
      ['agent 1', 900],
    ],
  );
});

test('however many tokens an account makes, there is room for the next account', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 10_000, metricShare: 100 } });
  assert.equal((await send(house, 'token 1 of kim@x', [0, 20_000])).accepted, 8_000);
  const second = await send(house, 'token 2 of kim@x', [0, 20_000]);
  assert.equal(second.accepted, 1_000);
  assert.match(
    second.reasons[0]!,
    /^the senders of kim@x have 9000 series together, the share of one account of 10000; new series are refused/,
  );
  for (let token = 3; token < 20; token++) {
    assert.equal((await send(house, `token ${token} of kim@x`, [0, 100])).accepted, 0);
  }
  assert.equal((await send(house, 'token 20 of ada@x', [0, 700])).accepted, 700);
  assert.equal((await send(house, 'agent 1', [0, 200])).accepted, 200);
  const bounds = house.store.stats().seriesBounds;
  assert.deepEqual(
    bounds.filter(({ limit }) => limit === 'account').map(({ sender, used }) => [sender, used]),
    [['kim@x', 9_000]],
  );
});

test('what svc tells about the limit is not refused for want of a share', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 10_000, metricShare: 100 } });
  await send(house, 'token 1', [0, 20_000]);
  assert.equal((await send(house, 'svc', [0, 1_900])).accepted, 1_900);
});

test('the labels of one sender have a share, too', async (t) => {
  const limits = { maxLabelBytes: 8_388_608, metricShare: 100 };
  const house = await storeHouse(t, { limits });
  const long = (sender: string, count: number) =>
    house.store.push(
      'exposition',
      Buffer.from(
        Array.from(
          { length: count },
          (_, i) => `m{of="${sender}",n="${i}${'x'.repeat(2_000)}"} 1\n`,
        ).join(''),
      ),
      { sender },
    );
  const greedy = await long('token 1', 3_000);
  assert.match(
    greedy.reasons[0]!,
    /^the labels of the series of this sender \(token 1\) take \d+ bytes/,
  );
  assert.equal((await long('token 2', 100)).accepted, 100);
});

test('a metric that explodes leaves room for the other metrics of its sender, and for others who send it', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 10_000 } });
  const { accepted, reasons } = await send(house, 'token 1', [0, 20_000], 'boom');
  assert.equal(accepted, 6_000);
  assert.match(
    reasons[0]!,
    /^this sender \(token 1\) has 6000 series of boom\{\}, the share of one metric/,
  );
  assert.equal((await send(house, 'token 1', [0, 500], 'other')).accepted, 500);
  assert.equal((await send(house, 'agent 1', [0, 500], 'boom')).accepted, 500);
  const nearest = house.store
    .stats()
    .seriesBounds.map(({ limit, sender, metric, used }) => [limit, sender, metric, used]);
  assert.deepEqual(nearest, [
    ['all', 'token 1', 'boom', 7_000],
    ['sender', 'token 1', 'boom', 6_500],
    ['metric', 'token 1', 'boom', 6_000],
  ]);
});

test('whose series are is known after a kill and after a cut, and follows who sends them on', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 10_000, metricShare: 100 } });
  const holders = () =>
    Object.fromEntries(
      house.store.cardinality(9).senders.map(({ sender, series }) => [sender, series]),
    );
  house.now = noon - 3 * hour;
  await send(house, 'token 1', [0, 1_500]);
  await send(house, 'token 2', [0, 10]);
  await house.restart();
  assert.deepEqual(holders(), { 'token 1': 1_500, 'token 2': 10 });
  house.now = noon;
  await send(house, 'token 1', [0, 1_200]);
  await house.store.maintain();
  assert.deepEqual(holders(), { 'token 1': 1_200 });
  await house.restart();
  assert.deepEqual(holders(), { 'token 1': 1_200 });
  house.now += 1_000;
  const renewed = Array.from({ length: 1_200 }, (_, i) => `m{of="token 1",n="${i}"} 1\n`).join('');
  await house.store.push('exposition', Buffer.from(renewed), { sender: 'token 9' });
  assert.deepEqual(holders(), { 'token 9': 1_200 });
});

test('once series are refused, those that ended make room within a quarter of an hour', async (t) => {
  const house = await storeHouse(t, { limits: { maxSeries: 2_000 } });
  const churn = async (from: number) => (await send(house, 'svc', [from, from + 2_000])).accepted;
  house.now = noon + 60_000;
  const room = await churn(0);
  assert.ok(room > 1_000 && (await churn(5_000)) === 0);
  await house.store.maintain();
  assert.equal(await churn(5_000), 0, 'they may still go on');
  house.now += 16 * 60_000;
  await send(house, 'svc', [0, 100]);
  await house.store.maintain();
  assert.ok((await churn(5_000)) > 1_000);
  assert.equal(Object.keys(await pointsOf(house.store, matchers('m', 'n=3'))).length, 1);
});

test('the figures of labels are those of their series', async (t) => {
  const house = await storeHouse(t);
  await send(house, 'one', [0, 3], 'a');
  await send(house, 'two', [0, 2], 'b');
  const { series, labelPairs, ...lists } = house.store.cardinality(2);
  assert.deepEqual([series, labelPairs], [5, 7]);
  assert.deepEqual(
    Object.values(lists)
      .filter((list) => Array.isArray(list))
      .map((list) => list.map((entry) => Object.values(entry).slice(0, 2).join(' '))),
    [
      ['a 3', 'b 2'],
      ['n 3', '__name__ 2'],
      ['of 6', 'n 3'],
      ['__name__=a 3', 'of=one 3'],
      ['one 3', 'two 2'],
    ],
  );
});
