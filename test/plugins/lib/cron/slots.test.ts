import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { parseCron, Slots } from 'svc/cron';

type Row = readonly [expression: string, zone: string, from: string, slots: readonly string[]];

/** Made with cron-parser 5.10.6: the next six slots around the changes of clocks in nine zones. */
const { rows } = JSON.parse(
  readFileSync(
    fileURLToPath(new URL('../../../fixtures/cron-slots.json', import.meta.url)),
    'utf8',
  ),
) as { readonly rows: readonly Row[] };

/** Slots that cron-parser loses: its clocks go by whole hours, and those of Lord Howe by half an hour. */
const lost: Readonly<Record<string, string>> = {
  '0 2,3 * * * Australia/Lord_Howe 2024-10-05': '2024-10-05T15:30Z',
  '15 2 * * 0 Australia/Lord_Howe 2024-10-05': '2024-10-05T15:45Z',
};

const shown = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`;

function nextOnes(slots: Slots, from: number, count: number): readonly number[] {
  const found: number[] = [];
  for (let at = from; found.length < count;) {
    at = slots.next(at)!;
    found.push(at);
  }
  return found;
}

test('slots are those of an independent implementation, also where clocks change', () => {
  const wrong: unknown[] = [];
  for (const [expression, zone, from, expected] of rows) {
    const found = nextOnes(new Slots(expression, zone), Date.parse(from), expected.length + 1);
    const extra = lost[`${expression} ${zone} ${from}`];
    const same = found.map(shown).filter((slot) => slot !== extra);
    if (String(same.slice(0, expected.length)) !== String(expected)) {
      wrong.push([expression, zone, from, same, expected]);
    }
    assert.ok(extra === undefined || found.map(shown).includes(extra));
  }
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 200);
});

test('the newest slot until a time is the one that comes next before it', () => {
  for (const [expression, zone, from] of rows) {
    const slots = new Slots(expression, zone);
    const [first, second] = nextOnes(slots, Date.parse(from), 2);
    assert.equal(slots.newest(first!), first, `${expression} ${zone}`);
    assert.equal(slots.newest(second! - 1), first, `${expression} ${zone}`);
  }
});

test('a time that clocks skip comes as long after the change, and one that they show twice comes once', () => {
  const nightly = new Slots('30 2 * * *', 'Europe/Berlin');
  const of = (from: string, count: number) => nextOnes(nightly, Date.parse(from), count).map(shown);
  assert.deepEqual(of('2025-03-29T12:00Z', 2), ['2025-03-30T01:30Z', '2025-03-31T00:30Z']);
  assert.deepEqual(of('2025-10-25T12:00Z', 2), ['2025-10-26T00:30Z', '2025-10-27T01:30Z']);
});

test('hours stay one hour apart where every hour is asked for', () => {
  const hourly = new Slots('15 * * * *', 'America/New_York');
  for (const from of ['2025-03-09T00:00Z', '2025-11-02T00:00Z']) {
    const slots = nextOnes(hourly, Date.parse(from), 30);
    assert.ok(slots.every((at, index) => index === 0 || at - slots[index - 1]! === 3_600_000));
  }
});

test('expressions are read as cron reads them', () => {
  const { minutes, hours, weekdays, eitherDay } = parseCron('5/20 8-18/5 13 * fri,7');
  assert.deepEqual(
    [minutes, hours, [...weekdays]],
    [
      [5, 25, 45],
      [8, 13, 18],
      [5, 0],
    ],
  );
  assert.equal(eitherDay, true);
  assert.deepEqual(parseCron('@daily'), parseCron('0 0 * * *'));
  for (const text of [
    '60 * * * *',
    '* * 0 * *',
    '*/0 * * * *',
    '9-5 * * * *',
    '1,,2 * * * *',
    '* * * foo *',
    '- * * * *',
    '1-2-3 * * * *',
  ]) {
    assert.throws(() => parseCron(text), /is not a valid/, text);
  }
});
