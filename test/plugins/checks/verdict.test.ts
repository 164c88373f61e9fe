import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Timetable } from '../../../plugins/checks/rounds/timetable.ts';
import { verdictOf, type Vote } from '../../../plugins/checks/rounds/verdict.ts';
import { UptimeAccount } from '../../../plugins/checks/uptime/uptime-account.ts';

/** Votes of places a, b, c …: + succeeds, - fails, . could not probe. */
const votes = (text: string): readonly Vote[] =>
  text.split('').map((vote, index) => ({
    place: 'abcdef'[index]!,
    at: 0,
    ...(vote === '.'
      ? { offline: 'the agent is offline' }
      : {
          reading: {
            success: vote === '+',
            cause: vote === '+' ? null : 'connection refused',
            facts: { connected: true, error: null, took_ms: 1, phases: {} },
            findings: [],
          },
        }),
  }));
const verdict = (text: string, downAt = 0): string =>
  verdictOf({ down_at: downAt }, votes(text)).state;

test('down takes as many failing places as are required, and a place that is away never counts', () => {
  const expected: Readonly<Record<string, string>> = {
    '+': 'up',
    '-': 'down',
    '.': 'stale',
    '++': 'up',
    '+-': 'up',
    '--': 'down',
    '-.': 'stale',
    '+.': 'up',
    '..': 'stale',
    '--.': 'down',
    '-..': 'stale',
    '+-.': 'up',
    '': 'stale',
  };
  for (const [text, state] of Object.entries(expected)) {
    assert.equal(verdict(text), state, text);
  }
  assert.deepEqual(
    [verdict('--+', 3), verdict('---', 3), verdict('-++', 1)],
    ['up', 'down', 'down'],
  );
});

test('a verdict names the places that fail, and why nobody could confirm them', () => {
  assert.deepEqual(verdictOf({ down_at: 0 }, votes('--+')), {
    state: 'down',
    cause: 'from a, b: connection refused',
    failing: ['a', 'b'],
  });
  assert.equal(
    verdictOf({ down_at: 0 }, votes('-.')).cause,
    'fails from a, but no second place could confirm it; b: the agent is offline',
  );
});

test('two thousand checks are spread so that no second has more than twice the mean, and each keeps its pace', () => {
  const timetable = new Timetable();
  for (let id = 1; id <= 2_000; id++) {
    timetable.put(id, 30_000, 1_000_000);
  }
  const seconds: number[] = [];
  const times = new Map<number, number[]>();
  for (let now = 1_000_000; now < 1_060_000; now += 250) {
    for (const { id, lateMs } of timetable.due(now)) {
      assert.ok(lateMs <= 250);
      seconds[Math.floor((now - 1_000_000) / 1_000)] ??= 0;
      seconds[Math.floor((now - 1_000_000) / 1_000)]! += 1;
      times.set(id, [...(times.get(id) ?? []), now]);
    }
  }
  assert.ok(Math.max(...seconds) <= (2 * 2_000) / 30, String(Math.max(...seconds)));
  assert.equal(times.size, 2_000);
  // Seen every quarter of a second, so up to that much apart from the interval.
  assert.ok(
    [...times.values()].every(
      ([first, second]) => second === undefined || Math.abs(second - first! - 30_000) <= 250,
    ),
  );
});

test('what was missed while the machine slept is left out, not made up for', () => {
  const timetable = new Timetable();
  timetable.put(1, 10_000, 0);
  assert.equal(timetable.due(3_600_000).length, 1);
  assert.equal(timetable.due(3_600_250).length, 0);
});

test('time is counted by hour and by day, over midnight, and can be given back', () => {
  const account = new UptimeAccount();
  const midnight = Date.UTC(2026, 10, 30);
  account.add(7, 'up', midnight - 90_000, midnight + 30_000);
  account.add(7, 'down', midnight + 30_000, midnight + 40_000);
  account.add(7, 'waiting', midnight + 40_000, midnight + 50_000);
  const rows = account.take();
  const shown = rows.map(({ span, begins_at: at, up_ms: up, down_ms: down }) => [
    span,
    new Date(at).toISOString(),
    up,
    down,
  ]);
  assert.deepEqual(shown, [
    ['hour', '2026-11-29T23:00:00.000Z', 90_000, 0],
    ['day', '2026-11-29T00:00:00.000Z', 90_000, 0],
    ['hour', '2026-11-30T00:00:00.000Z', 30_000, 10_000],
    ['day', '2026-11-30T00:00:00.000Z', 30_000, 10_000],
  ]);
  account.give(rows);
  assert.deepEqual(account.take(), rows);
});
