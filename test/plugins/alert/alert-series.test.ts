import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import type { SampleRow } from 'svc/contracts/metricsdb';

import { Engine, interval, minute, someone } from './engine-house.ts';

async function engine(t: TestContext): Promise<Engine> {
  const made = await new Engine().open();
  t.after(() => made.close());
  return made;
}

/**
 * Returns what was written since the last call: `name{state, key, device} value`, or `end` of it.
 */
function looked(house: Engine): readonly string[] {
  return house.written.splice(0).map(({ labels, value, stale }: SampleRow) => {
    const what = labels['__name__'] === 'ALERTS' ? labels['alertstate'] : 'since';
    return `${what} ${labels['rule_key']} ${labels['device_id']} ${stale === true ? 'ends' : value}`;
  });
}

test('what is pending or fires is written as ALERTS and ALERTS_FOR_STATE at each evaluation, and ended when it is over', async (t) => {
  const house = await engine(t);
  const rule = house.book.add({
    rule_key: 'cpu',
    legs: [{ forMs: minute }],
    labels: { team: 'infra', empty: '' },
    severity: 'critical',
  });
  house.answers.set('cpu', [
    { __name__: 'load', device_id: '7', alertstate: 'of the series', value: 95 },
  ]);
  await house.pass(interval);
  const slot = house.asked.at(-1)!.time;
  assert.deepEqual(house.written, [
    {
      labels: {
        device_id: '7',
        severity: 'critical',
        alertname: 'Rule cpu',
        team: 'infra',
        rule_key: 'cpu',
        __name__: 'ALERTS',
        alertstate: 'pending',
      },
      time: slot,
      value: 1,
    },
    {
      labels: {
        device_id: '7',
        severity: 'critical',
        alertname: 'Rule cpu',
        team: 'infra',
        rule_key: 'cpu',
        __name__: 'ALERTS_FOR_STATE',
      },
      time: slot,
      value: slot / 1_000,
    },
  ]);
  looked(house);
  await house.pass(minute);
  const since = slot / 1_000;
  assert.deepEqual(looked(house), [
    ...['pending cpu 7 1', `since cpu 7 ${since}`],
    ...['pending cpu 7 ends', 'firing cpu 7 1', `since cpu 7 ${since}`],
  ]);
  await house.restart();
  await house.operations.acknowledge((await house.incident('cpu:host:7'))!.id, undefined, someone);
  await house.pass(interval);
  assert.deepEqual(
    looked(house),
    ['firing cpu 7 1', `since cpu 7 ${since}`],
    'a restart and a person change nothing',
  );
  house.book.edit(rule.id, { name: 'Another name' });
  await house.pass(interval);
  assert.deepEqual(looked(house), [
    'firing cpu 7 ends',
    'since cpu 7 ends',
    'firing cpu 7 1',
    `since cpu 7 ${since}`,
  ]);
  await house.operations.resolve((await house.incident('cpu:host:7'))!.id, undefined, someone);
  await house.pass(interval);
  assert.deepEqual(
    looked(house),
    ['firing cpu 7 ends', 'since cpu 7 ends'],
    'what a person has resolved does not fire',
  );
  house.answers.set('cpu', []);
  await house.pass(2 * minute);
  assert.deepEqual(looked(house), []);
});

test('what is not evaluated for a while is written all the same, and what nobody evaluates any more is ended', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'rare', interval_seconds: 3_600 });
  const gone = house.book.add({ rule_key: 'gone' });
  house.answers.set('rare', [{ device_id: '1', value: 1 }]);
  house.answers.set('gone', [{ device_id: '2', value: 1 }]);
  await house.pass(61 * minute);
  looked(house);
  house.answers.set('gone', new Error('the store is away'));
  await house.pass(5 * minute);
  const rows = looked(house);
  assert.ok(rows.filter((row) => row === 'firing rare 1 1').length >= 4, rows.join());
  assert.ok(
    rows.filter((row) => row === 'firing gone 2 1').length >= 4,
    'it keeps its state, so it fires',
  );
  house.book.remove(gone.id);
  await house.pass(interval);
  assert.deepEqual(
    looked(house).filter((row) => row.includes('gone')),
    ['firing gone 2 ends', 'since gone 2 ends'],
  );
});

test('what the metrics store does not take is counted, and holds up nothing', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'cpu' });
  house.answers.set('cpu', [{ device_id: '7', value: 1 }]);
  house.refuse = () => Promise.reject(new Error('the disk is full'));
  await house.pass(minute);
  assert.deepEqual([house.lost, house.fired, looked(house)], [4, ['cpu:host:7'], []]);
  house.refuse = undefined;
  await house.pass(interval);
  assert.equal(looked(house).length, 2);
});
