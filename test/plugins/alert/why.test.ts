import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import type { NoticeDispatcher, Outcome } from 'svc/contracts/notify';
import type { Handle } from 'svc/sdk';

import { recordOutcomes } from '../../../plugins/alert/incident/notices.ts';
import { Why } from '../../../plugins/alert/incident/why.ts';
import { Engine, interval, minute } from './engine-house.ts';

const on = (device: string): { device_id: string; value: number }[] => [
  { device_id: device, value: 1 },
];

async function houseWithChannels(t: TestContext) {
  const house = await new Engine().open();
  t.after(() => house.close());
  const filters = [
    { channel_id: 1, name: 'ops', sends: true },
    { channel_id: 2, name: 'pager', sends: true },
    { channel_id: 3, name: 'db', sends: false, reason: 'the channel takes critical and above' },
  ];
  const dispatcher = {
    available: true,
    get: () => ({ preview: async () => filters }),
    onChange: () => () => undefined,
  };
  const why = new Why(house.store, dispatcher as unknown as Handle<NoticeDispatcher>);
  const explain = async (key: string) => await why.of((await house.incident(key))!.id, undefined);
  return { house, explain };
}

test('why says for each channel what became of the firing, and of no earlier one', async (t) => {
  const { house, explain } = await houseWithChannels(t);
  house.book.add({ rule_key: 'hot' });
  house.answers.set('hot', on('7'));
  await house.pass(interval);
  const { id } = (await house.incident('hot:host:7'))!;
  const record = (delivery: string, result: Outcome['result'], more: Partial<Outcome> = {}) =>
    recordOutcomes(
      [
        {
          delivery_id: delivery,
          notice_id: `incident-${id}-1-firing`,
          incident_id: id,
          kind: 'firing',
          channel_id: 1,
          channel_name: 'ops',
          attempts: 1,
          result,
          at: '2026-11-20T00:00:00.000Z',
          ...more,
        },
      ],
      { store: house.store, ledger: house.ledger, now: house.clock.now() },
    );
  const told = async () =>
    (await explain('hot:host:7')).channels.map(({ channel_id: channel, outcome, reason }) => [
      channel,
      outcome,
      reason,
    ]);
  assert.deepEqual(await told(), [
    [1, 'waiting', undefined],
    [2, 'waiting', undefined],
    [3, 'not_for_it', 'the channel takes critical and above'],
  ]);
  await record('d1/delayed', 'delayed', { error: 'the platform answered 502' });
  assert.deepEqual((await told())[0], [1, 'delayed', 'the platform answered 502']);
  await record('d1', 'sent');
  await record('d9', 'failed', {
    channel_id: 9,
    channel_name: 'gone',
    error: 'the channel was deleted before this was sent',
  });
  assert.deepEqual(await told(), [
    [1, 'sent', undefined],
    [2, 'waiting', undefined],
    [3, 'not_for_it', 'the channel takes critical and above'],
    [9, 'failed', 'the channel was deleted before this was sent'],
  ]);

  house.answers.set('hot', []);
  await house.pass(minute);
  house.answers.set('hot', on('7'));
  await house.pass(interval);
  const again = await explain('hot:host:7');
  assert.deepEqual(
    [again.firing, again.notified, again.gates.map(({ gate }) => gate)],
    [2, false, ['cooldown']],
  );
  assert.deepEqual(again.channels[0], {
    channel_id: 1,
    name: 'ops',
    outcome: 'held_back',
    reason: 'the last notification of it is younger than the cooldown',
  });
});

test('why names the incident that inhibits another', async (t) => {
  const { house, explain } = await houseWithChannels(t);
  house.book.add({
    rule_key: 'device_offline',
    severity: 'critical',
    legs: [{ query: 'off', measure: 'm' }],
  });
  house.book.add({ rule_key: 'hot' });
  house.answers.set('off', on('7'));
  await house.pass(interval);
  house.answers.set('hot', on('7'));
  await house.pass(interval);
  const { notified, gates, channels } = await explain('hot:host:7');
  assert.equal(notified, false);
  assert.deepEqual(
    gates.map(({ gate, reason, inhibited_by: by }) => [gate, reason, by]),
    [
      [
        'inhibition',
        'Rule device_offline (critical) is active on the same device',
        'device_offline:host:7',
      ],
    ],
  );
  assert.deepEqual(
    channels.map(({ outcome }) => outcome),
    ['held_back', 'held_back', 'not_for_it'],
  );
});
