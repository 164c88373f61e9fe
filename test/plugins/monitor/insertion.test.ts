import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { parse as parseLogQl, printExpr } from '../../../plugins/logs/logql/index.ts';
import { parse, selectorsOf } from '../../../plugins/metricsdb/promql/index.ts';
import {
  type Binding,
  insert,
  InsertionError,
  namesIn,
} from '../../../plugins/monitor/variables/insertion.ts';

const texts = (...values: string[]): ReadonlyMap<string, Binding> =>
  new Map([['v', { kind: 'texts', values }]]);
const plain = (text: string): ReadonlyMap<string, Binding> =>
  new Map([['v', { kind: 'plain', text }]]);

/** Texts that anybody might type into an address: quotes, brackets, escapes, whole queries. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom(
      '"',
      "'",
      '`',
      '\\',
      '\n',
      '\r',
      '}',
      '{',
      ')',
      '(',
      '[',
      ']',
      '|',
      '.',
      '*',
      '+',
      '?',
      '^',
      '$',
      '#',
      'a',
      'n',
      'x',
      '0',
      ' ',
      '-',
      '\0',
      '\u2028',
      '\ud800',
    ),
    maxLength: 30,
  }),
  fc.constantFrom(
    '"} or up{x="',
    '\\',
    '\\"',
    '.*',
    'a|b',
    '`',
    "'",
    '$v',
    '${v}',
    '[[v]]',
    '"}) or vector(1) #',
    '{{.x}}',
    '\\E.*\\Q',
    '(?i)a',
  ),
);
const repaired = (text: string): string => Buffer.from(text).toString();

describe('a value that somebody gives for a variable', () => {
  test('is compared as it is, whatever it holds, in quotes of any kind, in PromQL and LogQL', () => {
    fc.assert(
      fc.property(
        hostile,
        fc.constantFrom('"', "'", '`'),
        fc.constantFrom('=', '!='),
        (value, quote, op) => {
          const query = insert(
            `sum(up{job="x", host${op}${quote}$v${quote}}) by (job)`,
            texts(value),
          );
          const [selector, ...more] = selectorsOf(parse(query));
          assert.deepEqual(more, []);
          const matchers = selector!.matchers.filter(({ name }) => name !== '__name__');
          assert.deepEqual(
            matchers.map((matcher) => [matcher.name, matcher.op, matcher.value]),
            [
              ['job', '=', 'x'],
              ['host', op, repaired(value)],
            ],
          );
        },
      ),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(hostile, fc.constantFrom('"', '`'), (value, quote) => {
        const query = insert(`{app="a"} |= ${quote}<$v>${quote} | level = "warn"`, texts(value));
        const clean = insert(`{app="a"} |= "<$v>" | level = "warn"`, texts('CLEAN'));
        assert.equal(
          printExpr(parseLogQl(query)),
          printExpr(parseLogQl(clean)).replace('"<CLEAN>"', () =>
            printedLine(`<${repaired(value)}>`),
          ),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test('matches itself and nothing else where a pattern is asked for', () => {
    fc.assert(
      fc.property(
        fc.array(hostile, { minLength: 1, maxLength: 4 }),
        hostile,
        fc.constantFrom('"', "'", '`'),
        (values, other, quote) => {
          const query = insert(`up{host=~${quote}pre-$v-post${quote}}`, texts(...values));
          const [selector] = selectorsOf(parse(query));
          const host = selector!.matchers.find(({ name }) => name === 'host')!;
          for (const value of values) {
            assert.ok(
              host.matches(`pre-${repaired(value)}-post`),
              `${query} does not match ${JSON.stringify(value)}`,
            );
          }
          assert.equal(host.matches(`pre-${other}-post`), values.map(repaired).includes(other));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test('stands outside of quotes only when it is a number or a duration', () => {
    assert.equal(insert('topk($v, rate(up[${v}]))', plain('5')), 'topk(5, rate(up[5]))');
    assert.equal(insert('rate(up[$v])', texts('1h30m')), 'rate(up[1h30m])');
    for (const value of ['up', '5) or vector(1', '', '5m]) or up[5m', '1 or 2', '-']) {
      assert.throws(() => insert('rate(up[$v])', texts(value)), InsertionError, value);
    }
    assert.throws(() => insert('rate(up[$v])', texts('1m', '2m')), /outside quotes/);
  });

  test('does not stand in a text that is a program: a template, a pattern, a path, a replacement', () => {
    const places = [
      '{a="b"} | line_format "$v"',
      '{a="b"} | label_format x="$v"',
      '{a="b"} | label_format y="z", x=`$v`',
      '{a="b"} | json x="$v"',
      '{a="b"} | logfmt x="$v"',
      '{a="b"} | regexp "$v"',
      '{a="b"} | pattern "$v"',
      'label_replace(up, "a", "$v", "b", "(.*)")',
      '{"$v"}',
    ];
    for (const place of places) {
      assert.throws(() => insert(place, texts('x')), /not compared/, place);
    }
    assert.equal(
      insert('sum(rate({a="b"} | label_format x="y" [5m])) / sum(rate({a="$v"}[5m]))', texts('c')),
      'sum(rate({a="b"} | label_format x="y" [5m])) / sum(rate({a="c"}[5m]))',
    );
    assert.equal(insert('{a="b"} |~ "x" or "$v"', texts('c.d')), '{a="b"} |~ "x" or "c\\\\.d"');
  });

  test('is refused where a backslash, missing quotes or another format would change it', () => {
    assert.throws(() => insert('up{a="\\$v"}', texts('"')), /after a backslash/);
    assert.throws(() => insert('up{a=~"x\\\\$v"}', texts('.')), /after a backslash/);
    assert.throws(() => insert('up{a="$v', texts('x')), /do not end/);
    assert.throws(() => insert('up{a="${v:lucene}"}', texts('x')), /lucene/);
    assert.equal(
      insert('up{a=~"${v:regex}|[[v:pipe]]"}', texts('x', 'y')),
      'up{a=~"(?:x|y)|(?:x|y)"}',
    );
  });

  test('is compared as a pattern where it is one of several, and the text around it as it is', () => {
    const two = texts('x.1', 'y');
    assert.equal(insert('up{a="$v"}', two), 'up{a=~"(?:x\\\\.1|y)"}');
    assert.equal(insert('up{a!="$v",b="c"}', two), 'up{a!~"(?:x\\\\.1|y)",b="c"}');
    assert.equal(
      insert('up{a="a.b\\\\c\\"d$v"}', texts('x', 'y')),
      'up{a=~"a\\\\.b\\\\\\\\c\\"d(?:x|y)"}',
    );
    assert.equal(insert('{a="b"} |= "<$v>"', texts('x', 'y')), '{a="b"} |~ "\\\\<(?:x|y)\\\\>"');
    fc.assert(
      fc.property(
        fc.array(hostile, { minLength: 2, maxLength: 4 }),
        hostile,
        fc.constantFrom('"', "'", '`'),
        (values, other, quote) => {
          const query = insert(`up{host=${quote}a.b-$v${quote}}`, texts(...values));
          const host = selectorsOf(parse(query))[0]!.matchers.find(({ name }) => name === 'host')!;
          assert.ok(
            values.every((value) => host.matches(`a.b-${repaired(value)}`)),
            query,
          );
          assert.equal(host.matches(`a.b-${other}`), values.map(repaired).includes(other));
          assert.equal(host.matches(`aXb-${repaired(values[0]!)}`), false);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('stands anywhere where the author of the dashboard wrote it', () => {
    const words = new Map([['v', { kind: 'words', values: ['le', 'job'] } as const]]);
    assert.equal(insert('sum by (${v:csv}) (up)', words), 'sum by (le,job) (up)');
    assert.throws(() => insert('sum by ($v) (up)', words), /outside quotes/);
  });

  test('leaves comments, unknown names and the groups of a replacement alone', () => {
    const query = 'label_replace(up{a="$other"}, "a", "$1", "b", "(.*)$") # $v';
    assert.equal(insert(query, texts('x')), query);
    assert.deepEqual([...namesIn('$a ${b:regex} [[c]] $1 $$')], ['a', 'b', 'c']);
  });
});

/** Formats a line filter as LogQL prints it. */
const printedLine = (text: string): string =>
  /\|= ("[^]*"|`[^]*`) \| level/.exec(
    printExpr(parseLogQl(`{a="b"} |= ${JSON.stringify(text)} | level="x"`)),
  )![1]!;
