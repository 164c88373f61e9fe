import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { matcher } from 'svc/query';

import { instantOf, Parameters } from '../../../plugins/logs/loki/parameters.ts';
import { Tails } from '../../../plugins/logs/tail/tails.ts';
import { openStore, present, push } from './fixture.ts';

interface Frame {
  readonly streams: readonly {
    readonly stream: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [string, string])[];
  }[];
  readonly dropped_entries?: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly timestamp: string;
  }[];
}

async function tailed(t: TestContext): Promise<{
  tails: Tails;
  woken: number[];
  clock: { now: number };
  give: (app: string, values: readonly [number, string][]) => Promise<unknown>;
}> {
  const { store, clock } = await openStore(t);
  const woken: number[] = [];
  const tails = new Tails(
    () => clock.now,
    (id) => woken.push(id),
  );
  store.onKept((batch) => tails.offer(batch));
  return { tails, woken, clock, give: (app, values) => push(store, { app }, values) };
}

const frame = (tails: Tails, id: number): Frame | undefined => {
  const bytes = tails.take(id);
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as Frame);
};
const linesOf = (taken: Frame | undefined): string[] =>
  (taken?.streams ?? []).flatMap(({ values }) => values.map(([, line]) => line));

test('a tail that nobody reads keeps a bounded number of lines, and tells of those it dropped', async (t) => {
  const { tails, woken, give } = await tailed(t);
  const id = tails.open({ query: '{app="web"}', enforce: [], delayMs: 0 });
  await give(
    'web',
    Array.from({ length: 5_050 }, (_, i) => [i, `line ${i}`]),
  );
  assert.deepEqual(woken, [id], 'it is woken once');
  const first = frame(tails, id)!;
  assert.equal(linesOf(first).length, 1_000);
  assert.equal(first.dropped_entries!.length, 50);
  assert.equal(first.dropped_entries![0]!.timestamp, `${present + 5_000}000000`);
  let rest = 0;
  for (let next = frame(tails, id); next !== undefined; next = frame(tails, id)) {
    rest += linesOf(next).length;
  }
  assert.equal(rest, 4_000);
  tails.close(id);
  assert.throws(() => tails.take(id), { code: 'not_found' });
});

test('a tail with a delay puts lines in order that came out of order', async (t) => {
  const { tails, clock, give } = await tailed(t);
  const id = tails.open({
    query: '{app=~".+"}',
    enforce: [matcher('app', '!=', 'secret')],
    delayMs: 2_000,
  });
  await give('a', [[5, 'second']]);
  await give('b', [[1, 'first']]);
  await give('secret', [[2, 'not for this one']]);
  assert.equal(frame(tails, id), undefined);
  clock.now += 2_000;
  assert.deepEqual(linesOf(frame(tails, id)), ['first', 'second']);
  assert.equal(frame(tails, id), undefined);
});

test('no more tails than there may be', async (t) => {
  const { tails } = await tailed(t);
  for (let i = 0; i < 100; i++) {
    tails.open({ query: '{app="web"}', enforce: [], delayMs: 0 });
  }
  assert.throws(() => tails.open({ query: '{app="web"}', enforce: [], delayMs: 0 }), {
    code: 'rate_limited',
  });
});

test('an instant is read as Loki reads it', () => {
  const cases: [string, { ms: number; ns: number } | undefined][] = [
    ['1795197600', { ms: 1_795_197_600_000, ns: 0 }],
    ['1795197600.5', { ms: 1_795_197_600_500, ns: 0 }],
    ['1795197600.123456789', { ms: 1_795_197_600_123, ns: 456_789 }],
    ['1795197600123456789', { ms: 1_795_197_600_123, ns: 456_789 }],
    ['20', { ms: 20_000, ns: 0 }],
    ['2026-11-20T18:00:00Z', { ms: present, ns: 0 }],
    ['2026-11-20T19:00:00.000000001+01:00', { ms: present, ns: 1 }],
    ['zzz', undefined],
    ['2026-13-40T00:00:00Z', undefined],
    ['99999999999999999999', undefined],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual(instantOf(text), expected, text);
  }
});

test('parameters have the defaults of Loki', () => {
  const of = (list: Readonly<Record<string, string>>): Parameters =>
    new Parameters(Object.entries(list), present);
  const hour = { start: { ms: present - 3_600_000, ns: 0 }, end: { ms: present, ns: 0 } };
  assert.deepEqual(of({}).window(), hour);
  assert.deepEqual(of({ since: '1h' }).window(6 * 3_600_000), hour);
  assert.equal(of({}).step(hour), 14_000, '250 steps of whole seconds');
  assert.equal(of({ step: '1m' }).step(hour), 60_000);
  assert.equal(of({ step: '2.5' }).step(hour), 2_500);
  assert.equal(of({}).limit, 100);
  assert.equal(of({}).direction, 'backward');
  for (const [list, message] of [
    [{ limit: '-1' }, /limit must be a positive value/],
    [{ limit: 'many' }, /could not parse 'limit' parameter/],
    [{ direction: 'up' }, /invalid direction 'up'/],
    [{ query: 'x'.repeat(65_537) }, /query too long/],
  ] as const) {
    assert.throws(() => [of(list).limit, of(list).direction, of(list).query], {
      code: 'invalid_argument',
      message,
    });
  }
});
