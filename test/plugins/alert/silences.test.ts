import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  isTimeZone,
  isWithin,
  type Recurrence,
  windowsIn,
} from '../../../plugins/alert/silence/recurrence.ts';
import { Engine, hour, interval, minute, type Series, someone } from './engine-house.ts';

/** The stretches, in UTC and to the minute, at which a recurrence is in force between two times. */
function stretches(recurrence: Partial<Recurrence>, from: string, to: string): readonly string[] {
  const whole: Recurrence = {
    days: [],
    start_minute: 0,
    duration_ms: hour,
    time_zone: 'Europe/Berlin',
    ...recurrence,
  };
  const found: string[] = [];
  let began: string | undefined;
  for (let at = Date.parse(from); at <= Date.parse(to); at += minute) {
    const is = isWithin(whole, at);
    const shown = new Date(at).toISOString().slice(5, 16);
    if (is && began === undefined) {
      began = shown;
    } else if (!is && began !== undefined) {
      found.push(`${began} to ${shown}`);
      began = undefined;
    }
  }
  const span = { from: Date.parse(from), to: Date.parse(to) };
  const short = (time: number): string => new Date(time).toISOString().slice(5, 16);
  assert.deepEqual(
    [...windowsIn(whole, span)].map((window) => `${short(window.from)} to ${short(window.to)}`),
    found,
    'a calendar shows the same windows',
  );
  return found;
}

const at = (hours: number, minutes = 0): number => hours * 60 + minutes;

test('a window begins by the clocks of its zone, before and after they change', () => {
  const night = { start_minute: at(22), duration_ms: 8 * hour };
  assert.deepEqual(stretches(night, '2026-03-27T12:00Z', '2026-03-30T12:00Z'), [
    '03-27T21:00 to 03-28T05:00',
    '03-28T21:00 to 03-29T05:00',
    '03-29T20:00 to 03-30T04:00',
  ]);
  assert.deepEqual(stretches(night, '2026-10-24T12:00Z', '2026-10-26T12:00Z'), [
    '10-24T20:00 to 10-25T04:00',
    '10-25T21:00 to 10-26T05:00',
  ]);
});

test('a window whose beginning the clocks leave out is as long after the change; of one that they show twice the first counts', () => {
  const half = { start_minute: at(2, 30), duration_ms: 20 * minute };
  assert.deepEqual(stretches(half, '2026-03-28T12:00Z', '2026-03-30T12:00Z'), [
    '03-29T01:30 to 03-29T01:50',
    '03-30T00:30 to 03-30T00:50',
  ]);
  assert.deepEqual(stretches(half, '2026-10-24T12:00Z', '2026-10-26T12:00Z'), [
    '10-25T00:30 to 10-25T00:50',
    '10-26T01:30 to 10-26T01:50',
  ]);
});

test('the day of a window is that of its zone, which may be another one than in UTC', () => {
  const monday = {
    days: ['mon'],
    start_minute: at(6),
    duration_ms: hour,
    time_zone: 'Pacific/Auckland',
  } as const;
  assert.deepEqual(stretches(monday, '2026-06-13T00:00Z', '2026-06-23T00:00Z'), [
    '06-14T18:00 to 06-14T19:00',
    '06-21T18:00 to 06-21T19:00',
  ]);
  const west = {
    days: ['sun'],
    start_minute: at(23),
    duration_ms: 2 * hour,
    time_zone: 'America/Los_Angeles',
  } as const;
  assert.deepEqual(stretches(west, '2026-06-14T00:00Z', '2026-06-16T00:00Z'), [
    '06-15T06:00 to 06-15T08:00',
  ]);
  assert.deepEqual(
    [isTimeZone('Europe/Berlin'), isTimeZone('UTC'), isTimeZone('Mars/Olympus')],
    [true, true, false],
  );
});

test('a window of several days reaches over weekends and changes of the clock', () => {
  const weekend = { days: ['fri'], start_minute: at(18), duration_ms: 60 * hour } as const;
  assert.deepEqual(stretches(weekend, '2026-03-26T00:00Z', '2026-04-01T00:00Z'), [
    '03-27T17:00 to 03-30T05:00',
  ]);
});

const of = (...units: readonly string[]): readonly Series[] =>
  units.map((unit) => ({ unit, value: 1 }));
const draft = (value: string, more: object = {}) => ({
  matchers: [{ name: 'unit', op: '=~' as const, value }],
  duration: '1h',
  reason: 'a disk is changed',
  ...more,
});

test('a silence says beforehand what it would mute, lists what it mutes, and can be edited until it ends', async (t) => {
  const house = await new Engine().open();
  t.after(() => house.close());
  house.book.add({ rule_key: 'sum', scope_type: 'global' });
  house.answers.set('sum', of('a', 'b', 'c', 'd'));
  await house.pass(interval);
  house.answers.set('sum', of('a', 'b', 'e'));
  await house.pass(minute);
  const preview = await house.silences.preview(someone.principal, draft('a|c|d'));
  assert.equal(preview.summary, 'mutes 1 of 3 now, 3 of 5 in the last 24 h');
  assert.deepEqual(
    preview.muted.map(({ labels, rule }) => [labels['unit'], rule]),
    [['a', 'sum']],
  );
  // As a matcher names the rule, and as the rule names itself.
  for (const name of ['rule', 'rule_key']) {
    const { summary } = await house.silences.preview(
      someone.principal,
      draft('', { matchers: [{ name, op: '=', value: 'sum' }] }),
    );
    assert.equal(summary, 'mutes 3 of 3 now, 5 of 5 in the last 24 h');
  }
  assert.equal(
    (await house.silences.list(someone.principal, undefined, { limit: 9 })).total,
    0,
    'nothing is stored',
  );

  const made = await house.silences.add(draft('a|b'), someone);
  const muted = async (): Promise<readonly unknown[]> =>
    (await house.silences.muted(someone.principal, made.id, { limit: 9 })).items.map(
      ({ labels }) => labels['unit'],
    );
  assert.deepEqual(await muted(), ['a', 'b']);
  const first = await house.silences.muted(someone.principal, made.id, { limit: 1 });
  const second = await house.silences.muted(someone.principal, made.id, {
    limit: 1,
    after: first.next!,
  });
  assert.deepEqual(
    [...first.items, ...second.items].map(({ labels }) => labels['unit']),
    ['a', 'b'],
  );
  assert.equal(second.next, undefined);
  const ben = { ...someone, principal: { ...someone.principal, email: 'ben@example.org' } };
  const edited = await house.silences.replace(
    made.id,
    draft('b', { duration: '3h', reason: 'only b' }),
    ben,
  );
  assert.deepEqual(
    [
      edited.starts_at,
      edited.reason,
      edited.created_by,
      edited.updated_by,
      Date.parse(edited.ends_at) - Date.parse(edited.starts_at),
    ],
    [made.starts_at, 'only b', 'ann@example.org', 'ben@example.org', 3 * hour],
  );
  assert.deepEqual(await muted(), ['b']);
  await house.silences.expire(made.id, someone);
  assert.deepEqual(await muted(), []);
  await assert.rejects(house.silences.replace(made.id, draft('b'), someone), {
    code: 'conflict',
    message: /has ended; create a new one/,
  });
  const zone = {
    recurrence: { days: [], start: '22:00', duration: '8h', time_zone: 'Mars/Olympus' },
  };
  await assert.rejects(house.silences.add(draft('b', zone), someone), {
    code: 'invalid_argument',
    message: /tz database.*Mars/,
  });
  const nightly = await house.silences.add(
    draft('b', { duration: '30d', recurrence: { ...zone.recurrence, time_zone: 'Europe/Berlin' } }),
    someone,
  );
  assert.equal(nightly.recurrence!.time_zone, 'Europe/Berlin');
});

test('what fires offers its labels; a window says when it mutes, in a preview and in a calendar', async (t) => {
  const house = await new Engine().open();
  t.after(() => house.close());
  house.book.add({ rule_key: 'sum', scope_type: 'global' });
  house.answers.set('sum', of('a', 'b'));
  await house.pass(interval);
  house.answers.set('sum', of('a'));
  await house.pass(minute);
  const { items } = await house.silences.labels(someone.principal);
  const valuesOf = (name: string): readonly unknown[] =>
    items
      .find((one) => one.name === name)!
      .values.map(({ value, firing_now: now, fired_last_24h: past }) => [value, now, past]);
  assert.deepEqual(valuesOf('unit'), [
    ['a', 1, 1],
    ['b', 0, 1],
  ]);
  assert.deepEqual(valuesOf('rule'), [['sum', 1, 2]]);
  assert.ok(!items.some(({ name }) => name === 'rule_key'), 'one name a fact');
  const recurrence = { days: [], start: '22:00', duration: '8h', time_zone: 'Europe/Berlin' };
  const window = draft('a', { duration: '30d', recurrence, name: 'nightly' });
  const { windows } = await house.silences.preview(someone.principal, window);
  assert.equal(windows.length, 5);
  assert.deepEqual((await house.silences.preview(someone.principal, draft('a'))).windows, []);
  const made = await house.silences.add(window, someone);
  const once = await house.silences.add(draft('b'), someone);
  const from = Date.parse(once.starts_at);
  const days = (count: number) => ({ from, to: from + count * 24 * hour });
  const shown = await house.silences.calendar(someone.principal, days(40));
  assert.equal(shown.left_out, 0);
  const ofWindow = shown.items.filter(({ silence_id: id }) => id === made.id);
  assert.deepEqual(
    ofWindow.slice(0, 5).map(({ starts_at, ends_at }) => ({ starts_at, ends_at })),
    windows,
  );
  assert.ok(ofWindow.length >= 30 && ofWindow.every(({ ends_at: end }) => end <= made.ends_at));
  assert.deepEqual(
    shown.items.filter(({ silence_id: id }) => id === once.id).map(({ is_window }) => is_window),
    [false],
  );
  await assert.rejects(house.silences.calendar(someone.principal, days(46)), /at most 45 days/);
  await assert.rejects(house.silences.calendar(someone.principal, days(0)), /after its start/);
});
