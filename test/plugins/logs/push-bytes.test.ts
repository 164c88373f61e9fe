import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { detectedLevel } from '../../../plugins/logs/logql/discovery.ts';
import { readJsonPush } from '../../../plugins/logs/store/intake/json-push.ts';
import { levelInLine } from '../../../plugins/logs/store/intake/level.ts';
import { nanosText } from '../../../plugins/logs/store/lines/nanos.ts';
import { body } from './fixture.ts';

test('a body of the usual shape and one that needs another look come to the same lines', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(
        '"',
        '\\',
        '\n',
        '\u0007',
        '<',
        'ü',
        '\u2028',
        '\ud83d',
        '\ude00',
        'a',
        '}',
        ']',
        ',',
      ),
    }),
  );
  const time = fc.oneof(
    fc.nat().map(String),
    fc.bigInt(0n, 9_223_372_036_854_775_807n).map(String),
  );
  const labels = fc.dictionary(text, text, { maxKeys: 3 });
  const streams = fc.array(
    fc.record({
      stream: labels,
      values: fc.array(fc.oneof(fc.tuple(time, text), fc.tuple(time, text, labels)), {
        maxLength: 5,
      }),
    }),
    {
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(streams, fc.constantFrom(0, 1, '\t'), fc.boolean(), (pushed, indent, likeGo) => {
      const json = JSON.stringify({ streams: pushed }, undefined, indent);
      const usual = likeGo ? json.replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028') : json;
      const told = [usual, JSON.stringify({ more: 1, streams: pushed })].map((body) => {
        const batch = readJsonPush(Buffer.from(body));
        const entry = (_: unknown, i: number): unknown => [
          batch.ms[i],
          batch.ns[i],
          batch.lineAt(i),
          batch.metas[batch.meta[i]!],
        ];
        return { parts: batch.parts, entries: Array.from({ length: batch.count }, entry) };
      });
      assert.deepEqual(told[0], told[1]);
    }),
  );
});

test('every byte of a line counts, wherever it stands', () => {
  const lines = ['"', '\\', '\u0001', '!', '#', 'ü', '\u007f'].flatMap((char) =>
    Array.from(
      { length: 20 },
      (_, before) => `${'x'.repeat(before)}${char}${'y'.repeat(before % 7)}`,
    ),
  );
  for (const stamp of [
    '1795200392123456789',
    '8999999999999999999',
    '179520039212345678',
    '1000000',
  ]) {
    const values = lines.map((line) => [stamp, line]);
    const batch = readJsonPush(
      Buffer.from(JSON.stringify({ streams: [{ stream: { app: 'web' }, values }] })),
    );
    assert.ok(batch.isText, 'read from its bytes');
    assert.deepEqual(
      lines.map((_, i) => [nanosText({ ms: batch.ms[i]!, ns: batch.ns[i]! }), batch.lineAt(i)]),
      values,
    );
  }
});

test('a body that breaks off, or holds what no text may hold, is refused wherever that is', () => {
  const whole = body({ app: 'web', b: 'ü\\"' }, [
    [1, 'one "two" \n three'],
    [2, 'four', { trace: 'abc' }],
  ]);
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => readJsonPush(whole.subarray(0, length)), { code: 'invalid_argument' });
  }
  for (const broken of ['a\u0001b', 'a\\xb', 'a\\u12g4', '\\']) {
    assert.throws(
      () =>
        readJsonPush(
          Buffer.from(`{"streams":[{"stream":{"app":"web"},"values":[["1","${broken}"]]}]}`),
        ),
      { code: 'invalid_argument' },
    );
  }
});

test('the level read from bytes is the one that the query language reads from text', () => {
  const piece = fc.constantFrom(
    'level',
    'lvl',
    'severity',
    'severity_text',
    'LEVEL',
    'info',
    'warn',
    'ERROR',
    'err',
    'dbg',
    'critical',
    'x',
    ' ',
    ' ',
    '=',
    '"',
    ':',
    '{',
    ',',
    '_',
    '-',
    '\t',
    'é',
    '1',
    '42',
    'de',
    'session',
    'refused ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), fc.nat(9), (pieces, before) => {
      const line = pieces.join('');
      const bytes = Buffer.from(`${'x'.repeat(before)}${line}yy`);
      assert.equal(
        levelInLine(bytes, before, bytes.length - 2),
        detectedLevel(line, []),
        JSON.stringify(line),
      );
    }),
    { numRuns: 5_000 },
  );
});
