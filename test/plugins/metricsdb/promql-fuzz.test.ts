import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { kindOf } from 'svc/query';

import { parse, print } from '../../../plugins/metricsdb/promql/index.ts';

const name = fc.constantFrom(
  'up',
  'http_requests_total',
  'job:rate5m',
  'sum',
  'offset',
  'start',
  'fill',
  'Infinite',
);
const label = fc.constantFrom('a', 'job', 'le', 'by', 'with blank', 'ünïcode');
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('a"b', 'back\\slash', '`', '\u0000', '\n'),
);
const duration = fc.constantFrom(
  '5m',
  '1h30m',
  '90s',
  '250ms',
  '3',
  '1m + 2m',
  'step()',
  'max_of(1m, range())',
  '-(1m)',
  '2 * (1m + 3s)',
);
const positive = fc.constantFrom('5m', '1h30m', '90s', '7', '1m + 2m', 'step()', '(1m)', '2m ^ 2');
const quote = (value: string): string =>
  `"${value.replace(/["\\\n\0]/g, (found) => ({ '"': '\\"', '\\': '\\\\', '\n': '\\n', '\0': '\\x00' })[found]!)}"`;

const matchers = fc
  .array(
    fc
      .tuple(label, fc.constantFrom('=', '!='), text)
      .map(([key, op, value]) => `${quote(key)}${op}${quote(value)}`),
    { maxLength: 3 },
  )
  .map((list) => (list.length === 0 ? '' : `{${list.join(', ')}}`));
const placement = fc
  .tuple(
    fc.option(fc.constantFrom(' @ 12.5', ' @ start()', ' @ end()', ' @ -3')),
    fc.option(duration),
  )
  .map(([at, by]) => {
    const simple =
      by !== null && /^[-(\w]+\)?$/.test(by) && !by.includes(' ')
        ? by
        : by === null
          ? null
          : `(${by})`;
    return `${at ?? ''}${simple === null ? '' : ` offset ${simple}`}`;
  });
const selector = fc.tuple(name, matchers, placement).map((parts) => parts.join(''));
const matrix = fc
  .tuple(name, matchers, positive, placement)
  .map(([metric, braces, range, placed]) => `${metric}${braces}[${range}]${placed}`);
const labels = fc.array(label.map(quote), { maxLength: 2 }).map((list) => `(${list.join(', ')})`);

const { vector } = fc.letrec<{ vector: string; scalar: string }>((tie) => ({
  scalar: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      '1',
      '0x1F',
      '.5',
      '2.',
      'NaN',
      '-Inf',
      '1e-9',
      '5m',
      'time()',
      'pi()',
      '1e300',
    ),
    fc
      .tuple(tie('scalar'), fc.constantFrom('+', '^', '%', '== bool', 'atan2'), tie('scalar'))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
  ),
  vector: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    selector,
    tie('vector').map((one) => `(${one})`),
    tie('vector').map((one) => `-(${one})`),
    fc
      .tuple(fc.constantFrom('rate', 'absent_over_time', 'last_over_time'), matrix)
      .map(([func, range]) => `${func}(${range})`),
    fc
      .tuple(tie('vector'), positive, fc.option(positive), placement)
      .map(
        ([one, range, step, placed]) => `max_over_time((${one})[${range}:${step ?? ''}]${placed})`,
      ),
    fc
      .tuple(
        fc.constantFrom('sum', 'count', 'group'),
        fc.constantFrom('', 'by', 'without'),
        labels,
        tie('vector'),
      )
      .map(([op, how, list, one]) => `${op} ${how === '' ? '' : `${how} ${list}`} (${one})`),
    fc
      .tuple(fc.constantFrom('topk', 'quantile', 'limit_ratio'), tie('scalar'), tie('vector'))
      .map(([op, k, one]) => `${op}(${k}, ${one})`),
    fc
      .tuple(
        tie('vector'),
        fc.constantFrom(
          '+',
          '-',
          '^',
          '> bool',
          '!=',
          '/ on (a)',
          '* ignoring (job) group_left (le)',
          '- on (a) group_right () fill (2)',
          'and',
          'or on (a)',
          'unless',
        ),
        tie('vector'),
      )
      .map(([a, op, b]) => `${a} ${op} ${b}`),
    fc
      .tuple(tie('vector'), fc.constantFrom('*', '>'), tie('scalar'))
      .map(([a, op, b]) => `${a} ${op} ${b}`),
    fc
      .tuple(tie('vector'), text, text)
      .map(
        ([one, a, b]) =>
          `label_replace(${one}, "x", ${quote(a)}, "y", ${quote(b.replace(/[^a-z]/g, ''))})`,
      ),
  ),
}));

const spots = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, part: unknown) =>
      key === 'start' || key === 'end' || key === 'pattern'
        ? undefined
        : typeof part === 'number'
          ? Object.is(part, -0)
            ? '0'
            : String(part)
          : part,
    ),
  ) as unknown;

test('what the printer writes reads back as the same expression', () => {
  let read = 0;
  fc.assert(
    fc.property(vector, (query) => {
      let expr;
      try {
        expr = parse(query);
      } catch (error) {
        assert.equal(kindOf(error), 'bad_data', `${query}: ${(error as Error).message}`);
        return;
      }
      read++;
      const printed = print(expr);
      assert.equal(print(parse(printed)), printed, query);
      assert.deepEqual(sorted(spots(parse(printed))), sorted(spots(expr)), printed);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(read > 1_000, `only ${read} of the expressions were valid`);
});

/** Conditions of a selector stand in no order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === 'matchers'
        ? (part as unknown[]).map((one) => JSON.stringify(one)).sort()
        : sorted(part),
    ]),
  );
}

const scraps = fc.constantFrom(
  '(',
  ')',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  "'",
  '`',
  '\\',
  '=',
  '=~',
  '!~',
  '#',
  '@',
  'offset',
  'sum',
  'by',
  'rate',
  '5m',
  '1e',
  '0x',
  '_',
  '\n',
  'x',
  '+',
  '-',
  '^',
  'bool',
  'on',
  'é',
  '\ud800',
);

test('garbage is refused as such, with line and column', () => {
  const garbage = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.array(scraps, { maxLength: 25 }).map((parts) => parts.join('')),
    fc.array(scraps, { maxLength: 25 }).map((parts) => parts.join(' ')),
    fc
      .tuple(vector, fc.nat(60), scraps)
      .map(([query, at, scrap]) => query.slice(0, at) + scrap + query.slice(at + 1)),
  );
  fc.assert(
    fc.property(garbage, (query) => {
      try {
        parse(query);
      } catch (error) {
        assert.equal(kindOf(error), 'bad_data', String(error));
        assert.match((error as Error).message, /^\d+:\d+: parse error: /);
      }
    }),
    { numRuns: 5_000 },
  );
});

test('a query that nests too deeply, or is too long, is refused before it can hurt', () => {
  for (const query of [
    '('.repeat(4_000),
    `${'('.repeat(600)}1${')'.repeat(600)}`,
    `${'-'.repeat(2_000)}x`,
    `1${' + 1'.repeat(1_500)}`,
    '1^'.repeat(3_000),
    `x[${'('.repeat(2_000)}`,
  ]) {
    assert.throws(
      () => parse(query),
      (error) => kindOf(error) === 'bad_data',
    );
  }
  assert.throws(() => parse(`sum(${'x'.repeat(66_000)})`), /longer than 65536 bytes/);
  assert.equal(print(parse(`${'('.repeat(100)}x${')'.repeat(100)}`)).length, 201);
});
