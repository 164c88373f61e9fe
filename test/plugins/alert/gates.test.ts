import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';

import { recordOutcomes } from '../../../plugins/alert/incident/notices.ts';
import {
  Engine,
  type EngineOptions,
  hour,
  interval,
  minute,
  second,
  someone,
} from './engine-house.ts';

async function engine(t: TestContext, options: EngineOptions = {}): Promise<Engine> {
  const made = await new Engine(options).open();
  t.after(() => made.close());
  return made;
}

const on = (device: string): { device_id: string; value: number }[] => [
  { device_id: device, value: 1 },
];

describe('whether channels are notified', () => {
  test('of an incident that fires again within its cooldown: once that is over, and only if it lasts', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'flaps' });
    const flap = async (): Promise<void> => {
      house.answers.set('flaps', on('7'));
      await house.pass(interval);
      house.answers.set('flaps', []);
      await house.pass(minute);
    };
    for (let times = 0; times < 5; times++) {
      await flap();
    }
    const key = 'flaps:host:7';
    assert.deepEqual(house.sent, [`firing 1 ${key}`, `resolved 1 ${key}`]);
    const timeline = await house.timeline(key);
    assert.equal(
      timeline.filter((row) => row.startsWith('repeat_suppressed')).length,
      1,
      'once for the whole cooldown',
    );
    house.answers.set('flaps', on('7'));
    await house.pass(5 * minute);
    assert.deepEqual(house.sent.at(-1), `firing 6 ${key}`);
  });

  test('of an incident that fires again after a channel was sent its end, and of a critical one, at once: RESOLVED is never the last word', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'flaps' });
    house.book.add({ rule_key: 'page', severity: 'critical' });
    const both = async (
      series: { device_id: string; value: number }[],
      ms: number,
    ): Promise<void> => {
      ['flaps', 'page'].forEach((query) => house.answers.set(query, series));
      await house.pass(ms);
    };
    await both(on('7'), interval);
    await both([], minute);
    const { id } = (await house.incident('flaps:host:7'))!;
    const delivery = {
      delivery_id: 'd1',
      notice_id: `incident-${id}-1-resolved`,
      incident_id: id,
      channel_id: 1,
      channel_name: 'ops',
      attempts: 1,
    };
    const recording = { store: house.store, ledger: house.ledger, now: house.clock.now() };
    await both(on('7'), interval);
    const firings = (): readonly string[] => house.sent.filter((line) => line.startsWith('firing'));
    assert.deepEqual(
      firings().toSorted(),
      ['firing 1 flaps:host:7', 'firing 1 page:host:7', 'firing 2 page:host:7'],
      'no channel was sent the end of flaps yet',
    );
    const at = new Date(house.clock.now()).toISOString();
    await recordOutcomes([{ ...delivery, kind: 'resolved', result: 'overtaken', at }], recording);
    await house.pass(second, second);
    assert.equal(firings().length, 3, 'what was overtaken was not sent');
    await recordOutcomes(
      [{ ...delivery, delivery_id: 'd2', kind: 'resolved', result: 'sent', at }],
      recording,
    );
    await house.pass(second, second);
    assert.deepEqual(firings().slice(3), ['firing 2 flaps:host:7']);
  });

  test('at most once in a cooldown, however often it flaps, where no channel takes its end', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'flaps' });
    const began = house.clock.now();
    for (let times = 0; times < 100; times++) {
      house.answers.set('flaps', times % 3 === 0 ? on('7') : []);
      await house.pass(interval);
    }
    const cooldowns = Math.ceil((house.clock.now() - began) / house.cooldownMs);
    const firings = house.notices.filter(({ kind }) => kind === 'firing').length;
    assert.ok(firings <= cooldowns + 1, `${firings} notices in ${cooldowns} cooldowns`);
  });

  test('of a rule that asks for several firings: when it has begun to fire often enough within its window; to last is one firing', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'damp', notify_window_seconds: 600, notify_min_fires: 3 });
    const flap = async (): Promise<void> => {
      house.answers.set('damp', on('7'));
      await house.pass(interval);
      house.answers.set('damp', []);
      await house.pass(minute);
    };
    house.answers.set('damp', on('7'));
    await house.pass(10 * minute);
    assert.deepEqual(house.sent, [], 'it has begun once');
    assert.deepEqual(
      await house.timeline('damp:host:7'),
      ['firing open', 'repeat_suppressed open'],
      'one row for each window, none for each tick',
    );
    house.answers.set('damp', []);
    await house.pass(minute);
    await flap();
    await flap();
    assert.deepEqual(house.sent, [], 'the first one is out of the window');
    await house.restart();
    house.answers.set('damp', on('7'));
    await house.pass(interval);
    assert.deepEqual(house.sent, ['firing 4 damp:host:7'], 'the count outlives a restart');
  });

  test('of a warning that an unrelated critical incident of the same scope says nothing about: at once', async (t) => {
    const house = await engine(t);
    const rule = (key: string, severity: 'critical' | 'warning', measure: string): void => {
      house.book.add({
        rule_key: key,
        severity,
        scope_type: 'global',
        legs: [{ query: key, measure }],
        dimensions: ['disk'],
      });
    };
    rule('page', 'critical', 'certificate_days');
    rule('warn', 'warning', 'queue_length');
    rule('full', 'critical', 'used');
    rule('fuller', 'warning', 'used');
    house.answers.set('page', [{ value: 1 }]);
    house.answers.set('warn', [{ value: 1 }]);
    house.answers.set('full', [{ disk: 'boot', value: 99 }]);
    house.answers.set('fuller', [
      { disk: 'boot', value: 99 },
      { disk: 'data', value: 91 },
    ]);
    await house.pass(2 * minute);
    assert.deepEqual(house.sent.toSorted(), [
      'firing 1 full:global:global:disk=boot',
      'firing 1 fuller:global:global:disk=data',
      'firing 1 page:global:global:disk=',
      'firing 1 warn:global:global:disk=',
    ]);
    assert.deepEqual(
      await house.timeline('fuller:global:global:disk=boot'),
      ['firing open', 'inhibited open'],
      'the same disk, said worse',
    );
  });

  test('of a warning of which a worse incident explains some instances only: all the same', async (t) => {
    const house = await engine(t);
    house.book.add({
      rule_key: 'page',
      severity: 'critical',
      scope_type: 'global',
      legs: [{ query: 'page', measure: 'cpu' }],
      labels: { alertname: 'Page' },
    });
    house.book.add({
      rule_key: 'warn',
      scope_type: 'global',
      legs: [{ query: 'warn', measure: 'cpu' }],
      labels: { alertname: 'Warn' },
    });
    house.answers.set('page', on('7')).set('warn', on('7'));
    await house.pass(minute);
    assert.deepEqual(house.sent, ['firing 1 page:global:global']);
    house.answers.set('warn', [...on('7'), ...on('8')]);
    await house.pass(minute);
    assert.deepEqual(
      house.sent,
      ['firing 1 page:global:global', 'firing 1 warn:global:global'],
      '8 is said nowhere else',
    );
  });

  test('of something that a worse incident of the same measure explains: only when that is over', async (t) => {
    const house = await engine(t);
    house.book.add({
      rule_key: 'page',
      severity: 'critical',
      legs: [{ query: 'page', measure: 'cpu' }],
    });
    house.book.add({ rule_key: 'warn', legs: [{ query: 'warn', measure: 'cpu' }] });
    house.book.add({ rule_key: 'other' });
    house.answers.set('page', on('7'));
    house.answers.set('warn', [...on('7'), ...on('8')]);
    await house.pass(2 * minute);
    assert.deepEqual(house.sent.toSorted(), ['firing 1 page:host:7', 'firing 1 warn:host:8']);
    assert.deepEqual(await house.timeline('warn:host:7'), ['firing open', 'inhibited open']);
    await house.restart();
    await house.pass(2 * minute);
    assert.deepEqual(
      await house.timeline('warn:host:7'),
      ['firing open', 'inhibited open'],
      'it has said so already',
    );
    house.answers.set('page', []);
    await house.pass(90 * second);
    assert.deepEqual(house.sent.slice(-2), ['resolved 1 page:host:7', 'firing 1 warn:host:7']);
  });

  test('of anything on a device that is offline: not before it is back', async (t) => {
    const house = await engine(t);
    house.book.add({
      rule_key: 'device_offline',
      severity: 'critical',
      legs: [{ query: 'off', measure: 'm' }],
    });
    house.book.add({ rule_key: 'cpu', legs: [{ query: 'cpu', measure: 'm' }] });
    house.book.add({
      rule_key: 'dead',
      severity: 'critical',
      legs: [{ query: 'dead', measure: 'm' }],
    });
    ['off', 'cpu', 'dead'].forEach((query) => house.answers.set(query, on('7')));
    await house.pass(minute);
    assert.deepEqual(house.sent.toSorted(), ['firing 1 device_offline:host:7']);
    assert.deepEqual(await house.timeline('dead:host:7'), ['firing open', 'inhibited open']);
    assert.deepEqual(await house.timeline('cpu:host:7'), ['firing open', 'inhibited open']);
  });

  test('again and again of a critical incident that nobody takes in hand', async (t) => {
    const house = await engine(t, { reminderMs: hour });
    house.book.add({ rule_key: 'down', severity: 'critical' });
    house.book.add({ rule_key: 'warm' });
    house.answers.set('down', on('7'));
    house.answers.set('warm', on('8'));
    await house.pass(2 * hour + 2 * minute, minute);
    const key = 'down:host:7';
    assert.deepEqual(
      house.sent.filter((line) => line.endsWith(key)),
      [`firing 1 ${key}`, `reminder 1 ${key}`, `reminder 1 ${key}`],
    );
    assert.equal(new Set(house.notices.map(({ id }) => id)).size, house.notices.length);
    await house.operations.acknowledge((await house.incident(key))!.id, undefined, someone);
    await house.pass(2 * hour, minute);
    assert.equal(house.sent.filter((line) => line.startsWith('reminder')).length, 2);
    assert.equal(house.sent.filter((line) => line.startsWith('acknowledged')).length, 1);
  });
});

describe('a silence', () => {
  test('of one incident mutes that and no other, ends by itself or by hand, and what lasts is open again', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', [...on('7'), ...on('8')]);
    await house.pass(interval);
    const [seven, eight] = [
      (await house.incident('cpu:host:7'))!,
      (await house.incident('cpu:host:8'))!,
    ];
    await house.operations.silence(seven.id, { hours: 0.5, reason: 'known' }, someone);
    await house.operations.silence(seven.id, { duration: '30m' }, someone);
    await assert.rejects(house.operations.silence(seven.id, { hours: 0.2 }, someone), {
      code: 'conflict',
      message:
        /is silenced and cannot be silenced for less: it is until 2026-11-20T00:30:30\.000Z; end that silence first/,
    });
    await house.pass(20 * minute);
    assert.deepEqual(
      [(await house.incident('cpu:host:7'))!.status, (await house.incident('cpu:host:8'))!.status],
      ['silenced', 'open'],
    );
    await house.pass(10 * minute);
    assert.deepEqual(await house.timeline('cpu:host:7'), [
      'firing open',
      'silenced silenced',
      'reopened open',
    ]);
    assert.deepEqual(
      house.sent.at(-1),
      'reminder 1 cpu:host:7',
      'channels that got the firing are reminded',
    );
    await house.operations.silence(eight.id, { hours: 1 / 7 }, someone);
    await house.operations.unsilence(eight.id, someone);
    assert.equal((await house.incident('cpu:host:8'))!.status, 'open');
    await house.operations.silence(eight.id, { duration: '1h' }, someone);
    house.answers.set('cpu', on('7'));
    await house.pass(minute);
    assert.deepEqual(
      (await house.timeline('cpu:host:8')).at(-1),
      'resolved resolved',
      'a silence does not keep it from resolving',
    );
  });

  test('of one incident is extended by one that ends later, which the timeline tells', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', on('7'));
    await house.pass(interval);
    const { id } = (await house.incident('cpu:host:7'))!;
    await house.operations.silence(id, { hours: 1 }, someone);
    await house.pass(50 * minute);
    const { status, silenced_until: until } = await house.operations.silence(
      id,
      { hours: 1 },
      someone,
    );
    assert.deepEqual(
      [status, until],
      ['silenced', new Date(house.clock.now() + 60 * minute).toISOString()],
    );
    const { items } = await house.store.events(
      (await house.incident('cpu:host:7'))!,
      { order: 'desc' },
      { limit: 1 },
      undefined,
    );
    assert.deepEqual(
      [items[0]!.type, items[0]!.message],
      ['silenced', `extended by ann@example.org until ${until}`],
    );
    await house.pass(50 * minute);
    assert.equal(
      (await house.incident('cpu:host:7'))!.status,
      'silenced',
      'past the end that it had first',
    );
    await house.pass(11 * minute);
    assert.equal((await house.incident('cpu:host:7'))!.status, 'open');
  });

  test('by label mutes what matches, says so once, and tells of what lasts at its end', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu', labels: { team: 'infra' } });
    house.book.add({ rule_key: 'mem', labels: { team: 'apps' } });
    const made = await house.silences.add(
      {
        matchers: [
          { name: 'team', op: '=~', value: 'inf.*' },
          { name: 'severity', op: '=', value: 'warning' },
        ],
        duration: '10m',
        reason: 'work',
      },
      someone,
    );
    house.answers.set('cpu', on('7'));
    house.answers.set('mem', on('7'));
    await house.pass(5 * minute);
    assert.deepEqual(house.sent, ['firing 1 mem:host:7']);
    assert.deepEqual(await house.timeline('cpu:host:7'), ['firing open', 'repeat_suppressed open']);
    await house.restart();
    await house.pass(minute);
    assert.equal(house.sent.length, 1);
    await house.silences.expire(made.id, someone);
    await house.pass(second, second);
    assert.deepEqual(house.sent.at(-1), 'firing 1 cpu:host:7');
    assert.deepEqual((await house.silences.get(someone.principal, made.id)).state, 'expired');
  });

  test('that ends while this is down is over at the start: what still fires is told then, once', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', [...on('7'), ...on('8')]);
    await house.silences.add(
      { matchers: [{ name: 'scope_id', op: '=', value: '7' }], duration: '10m', reason: '' },
      someone,
    );
    await house.pass(interval);
    await house.operations.silence(
      (await house.incident('cpu:host:8'))!.id,
      { duration: '10m' },
      someone,
    );
    await house.pass(minute);
    assert.deepEqual(house.sent, ['firing 1 cpu:host:8']);
    await house.halt();
    house.clock.advance(30 * minute);
    await house.start();
    await house.pass(2 * minute);
    assert.deepEqual(house.sent, [
      'firing 1 cpu:host:8',
      'reminder 1 cpu:host:8',
      'firing 1 cpu:host:7',
    ]);
    assert.equal((await house.incident('cpu:host:8'))!.status, 'open');
  });

  test('that recurs is in force in its hours only, over midnight too', async (t) => {
    const house = await engine(t);
    // The clock stands at midnight of Friday, the twentieth.
    const silence = await house.silences.add(
      {
        matchers: [{ name: 'rule', op: '=', value: 'cpu' }],
        duration: '30d',
        recurrence: { days: ['fri'], start: '23:00', duration: '2h', time_zone: 'UTC' },
        reason: '',
      },
      someone,
    );
    const inForce = async (): Promise<boolean> =>
      (await house.silences.get(someone.principal, silence.id)).in_force;
    const seen: string[] = [];
    for (let hours = 0; hours < 8 * 24; hours++) {
      seen.push(
        ...((await inForce()) ? [new Date(house.clock.now()).toISOString().slice(8, 13)] : []),
      );
      house.clock.advance(hour);
    }
    assert.deepEqual(seen, ['20T23', '21T00', '27T23']);
  });

  test('that begins later mutes from then on, until the end that it was given', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    const at = (ms: number): string => new Date(house.clock.now() + ms).toISOString();
    const silence = await house.silences.add(
      {
        matchers: [{ name: 'scope_id', op: '!~', value: '[89]|' }],
        starts_at: at(10 * minute),
        ends_at: at(20 * minute),
        reason: '',
      },
      someone,
    );
    assert.deepEqual([silence.state, silence.in_force], ['pending', false]);
    house.answers.set('cpu', on('6'));
    await house.pass(5 * minute);
    assert.deepEqual(house.sent, ['firing 1 cpu:host:6'], 'it has not begun');
    await house.pass(6 * minute);
    house.answers.set('cpu', [...on('6'), ...on('7'), ...on('8')]);
    await house.pass(8 * minute);
    assert.deepEqual(
      house.sent,
      ['firing 1 cpu:host:6', 'firing 1 cpu:host:8'],
      'not 8, which its matcher leaves out',
    );
    await house.pass(90 * second);
    assert.deepEqual(house.sent.at(-1), 'firing 1 cpu:host:7');
  });

  test('of everything, or of nonsense, is refused with the reason', async (t) => {
    const house = await engine(t);
    const add = (draft: object): Promise<unknown> =>
      house.silences.add({ reason: '', duration: '1h', ...draft } as never, someone);
    await assert.rejects(
      add({ matchers: [{ name: 'team', op: '!=', value: 'x' }] }),
      /mute every incident/,
    );
    await assert.rejects(
      add({ matchers: [{ name: 'team', op: '=~', value: '.*' }] }),
      /mute every incident/,
    );
    await assert.rejects(
      add({ matchers: [{ name: 'team', op: '=~', value: '(a' }] }),
      /not a valid regular expression/,
    );
    await assert.rejects(
      add({ matchers: [{ name: 'team', op: '=', value: 'x' }], ends_at: '2030-01-01T00:00:00Z' }),
      /either ends_at or duration/,
    );
    await assert.rejects(
      add({ matchers: [{ name: 'team', op: '=', value: 'x' }], duration: '999d' }),
      /366 days/,
    );
  });
});

describe('what people do', () => {
  const table: readonly (readonly [from: string, act: string, to: string])[] = [
    ['open', 'ack', 'acknowledged'],
    ['open', 'silence', 'silenced'],
    ['open', 'resolve', 'resolved'],
    ['open', 'unsilence', 'open'],
    ['acknowledged', 'ack', 'acknowledged'],
    ['acknowledged', 'silence', 'conflict'],
    ['acknowledged', 'resolve', 'resolved'],
    ['acknowledged', 'unsilence', 'conflict'],
    ['silenced', 'ack', 'conflict'],
    ['silenced', 'silence', 'silenced'],
    ['silenced', 'resolve', 'resolved'],
    ['silenced', 'unsilence', 'open'],
    ['resolved', 'ack', 'conflict'],
    ['resolved', 'silence', 'conflict'],
    ['resolved', 'resolve', 'resolved'],
    ['resolved', 'unsilence', 'conflict'],
  ];

  test('follows the table of states: nothing else is possible, and the same again changes nothing', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    const acts = {
      ack: (id: number) => house.operations.acknowledge(id, undefined, someone),
      silence: (id: number) => house.operations.silence(id, { hours: 1 }, someone),
      resolve: (id: number) => house.operations.resolve(id, undefined, someone),
      unsilence: (id: number) => house.operations.unsilence(id, someone),
    };
    const ways: Readonly<Record<string, keyof typeof acts | undefined>> = {
      open: undefined,
      acknowledged: 'ack',
      silenced: 'silence',
      resolved: 'resolve',
    };
    house.answers.set(
      'cpu',
      table.map((_row, at) => ({ device_id: String(at), value: 1 })),
    );
    await house.pass(interval);
    for (const [at, [from, act, to]] of table.entries()) {
      const { id } = (await house.incident(`cpu:host:${at}`))!;
      const way = ways[from];
      await (way && acts[way](id));
      const rows = (await house.timeline(`cpu:host:${at}`)).length;
      const outcome = await acts[act as keyof typeof acts](id).then(
        ({ status }) => status,
        ({ code }: { code: string }) => code,
      );
      assert.equal(outcome, to, `${from}, ${act}`);
      const more = (await house.timeline(`cpu:host:${at}`)).length - rows;
      assert.equal(more, to === from || to === 'conflict' ? 0 : 1, `${from}, ${act}: rows`);
    }
    await assert.rejects(acts.ack(999), { code: 'not_found' });
    await assert.rejects(
      house.operations.silence(1, { hours: 1, duration: '1h' }, someone),
      /exactly one/,
    );
  });

  test('of resolving lasts while the condition does, until the cooldown is over', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', on('7'));
    await house.pass(interval);
    await house.operations.resolve((await house.incident('cpu:host:7'))!.id, 'not today', someone);
    await house.pass(5 * minute);
    await house.restart();
    await house.pass(4 * minute);
    assert.equal((await house.incident('cpu:host:7'))!.status, 'resolved');
    await house.pass(2 * minute);
    assert.deepEqual(await house.timeline('cpu:host:7'), [
      'firing open',
      'resolved resolved',
      'reopened open',
      'firing open',
    ]);
    await house.operations.resolve((await house.incident('cpu:host:7'))!.id, undefined, someone);
    house.answers.set('cpu', []);
    await house.pass(minute);
    house.answers.set('cpu', on('7'));
    await house.pass(interval);
    assert.equal(
      (await house.incident('cpu:host:7'))!.status,
      'open',
      'it was clear in between, so it may fire at once',
    );
  });

  test('does not hinder deliveries from being written down, each once', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', on('7'));
    await house.pass(interval);
    const { id } = (await house.incident('cpu:host:7'))!;
    const outcome = (delivery: string, result: 'sent' | 'failed' | 'folded' | 'overtaken') => ({
      delivery_id: delivery,
      notice_id: 'n',
      incident_id: id,
      kind: 'firing' as const,
      channel_id: 3,
      channel_name: 'ops',
      result,
      attempts: 1,
      at: '2026-11-20T00:00:00.000Z',
      ...(result === 'failed' && { error: 'status 500' }),
    });
    for (const [delivery, result] of [
      ['a', 'sent'],
      ['a', 'sent'],
      ['b', 'failed'],
      ['c', 'folded'],
      ['d', 'overtaken'],
    ] as const) {
      await house.store.record([outcome(delivery, result)], house.clock.now());
    }
    await house.operations.note(id, 'looked into it', someone);
    assert.deepEqual(await house.timeline('cpu:host:7'), [
      'firing open',
      'notification_sent open',
      'notification_failed open',
      'notification_sent open',
      'notification_failed open',
      'note open',
    ]);
    await house.store.record([{ ...outcome('z', 'sent'), incident_id: 999 }], house.clock.now());
  });
});
