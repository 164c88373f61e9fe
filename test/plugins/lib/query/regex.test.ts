import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';
import { RE2JS } from 're2js';

import { compileRegex, matcher } from 'svc/query';
import { factsOf } from '../../../../plugins/lib/query/regex/facts.ts';

const refuses = (text: string, message: RegExp): void => {
  assert.throws(() => compileRegex(text), { code: 'invalid_argument', message });
};

describe('a regular expression', () => {
  test('matches a part of the subject, or all of it when it is anchored', () => {
    assert.equal(compileRegex('err(or)?').test('no error'), true);
    assert.equal(compileRegex('err(or)?', { anchored: true }).test('no error'), false);
    assert.equal(compileRegex('err(or)?', { anchored: true }).test('err'), true);
    assert.equal(compileRegex('a|ab', { anchored: true }).test('ab'), true);
    assert.equal(compileRegex('^$').test('x'), false);
    assert.equal(compileRegex('').test('x'), true);
    assert.equal(compileRegex('', { anchored: true }).test('x'), false);
  });

  test('may be a long list of words, which is looked up; anything else of that length is refused', () => {
    const hosts = Array.from({ length: 3_000 }, (_, at) => `host-${at}\\.example`);
    for (const text of [hosts.join('|'), `(${hosts.join('|')})`]) {
      const { test: matches, exec, replaceAll } = compileRegex(text, { anchored: true });
      assert.deepEqual(
        [matches('host-7.example'), matches('host-7_example'), matches('a host-7.example')],
        [true, false, false],
      );
      assert.deepEqual(exec('host-7.example')?.at(-1), 'host-7.example');
      assert.equal(
        replaceAll('host-7.example', text.startsWith('(') ? '<$1>' : '<$0>'),
        '<host-7.example>',
      );
    }
    for (const [text, anchored] of [
      [hosts.join('|'), false],
      [`${hosts.join('|')}|.*`, true],
      [`(${hosts.join('|')})|(x)`, true],
      [`(${hosts.join('|')})\\.*`, true],
    ] as const) {
      assert.throws(() => compileRegex(text, { anchored }), /longer than 4096 characters/);
    }
    assert.throws(
      () => compileRegex('a|'.repeat(40_000), { anchored: true }),
      /longer than 4096 characters/,
    );
  });

  test('may be a long list of words with dots in them, between texts or before the rest', () => {
    const list = Array.from(
      { length: 300 },
      (_, at) => `host-${at}.rack-${at % 7}.example.com`,
    ).join('|');
    const hosts = [
      ...list.split('|'),
      'host-1.rack-1.example,com',
      'host-1.rack-2.example.com',
      'host-1\nrack-1.example.com',
      'host-1\u{1f600}rack-1.example.com',
      'x',
    ];
    const subjects = [
      ...hosts,
      ...hosts.flatMap((host) => [`${host}:9100`, `${host}:`, `a.${host}:9100`, `${host}\n`]),
    ];
    for (const [long, short] of [
      [list, 'host-1.rack-1.example.com|host-2.rack-2.example.com'],
      [`(${list})`, '(host-1.rack-1.example.com|host-2.rack-2.example.com)'],
      [`(?:${list}):9100`, '(?:host-1.rack-1.example.com|host-2.rack-2.example.com):9100'],
      [`(a.)?(${list})`, undefined],
      [`a\\.(${list}):9.00`, 'a\\.(host-1.rack-1.example.com|host-2.rack-2.example.com):9.00'],
      [`(${list}).*`, '(host-1.rack-1.example.com|host-2.rack-2.example.com).*'],
      [`(${list}):.+`, '(host-1.rack-1.example.com|host-2.rack-2.example.com):.+'],
    ] as const) {
      for (const dotAll of [true, false]) {
        if (short === undefined) {
          assert.throws(
            () => compileRegex(long, { anchored: true, dotAll }),
            /longer than 4096 characters/,
          );
          continue;
        }
        const listed = compileRegex(long, { anchored: true, dotAll });
        const engine = compileRegex(short, { anchored: true, dotAll });
        const matching = subjects.filter((subject) => engine.test(subject));
        assert.ok(matching.length > 0);
        const near = /host-[12][^0-9]/;
        assert.deepEqual(
          subjects.filter((subject) => near.test(subject) && listed.test(subject)),
          matching,
          `${short} ${dotAll}`,
        );
        for (const subject of matching) {
          assert.deepEqual(listed.exec(subject), engine.exec(subject));
          assert.equal(listed.replaceAll(subject, '<$1>'), engine.replaceAll(subject, '<$1>'));
        }
      }
    }
    const first = `(ab|a|abc|${'x'.repeat(5_000)}).*`;
    assert.deepEqual(compileRegex(first, { anchored: true }).exec('abcd'), ['abcd', 'ab']);
    const piped = `(a\\|b|c\\\\|${'x'.repeat(5_000)}|d)`;
    assert.deepEqual(
      ['a|b', 'a\\', 'b', 'c\\', 'c', 'd'].filter(compileRegex(piped, { anchored: true }).test),
      ['a|b', 'c\\', 'd'],
    );
    assert.throws(
      () => compileRegex(`${'x'.repeat(5_000)}|b\\`, { anchored: true }),
      /longer than 4096 characters/,
    );
    const many = Array.from({ length: 600 }, (_, at) => `${'a'.repeat(at)}.`).join('|');
    assert.throws(() => compileRegex(many, { anchored: true }), /longer than 4096 characters/);
  });

  test('takes a newline for any character only when it is told to', () => {
    assert.equal(compileRegex('a.b').test('a\nb'), false);
    assert.equal(compileRegex('a.*b').test('a\nb'), false);
    assert.equal(compileRegex('a.*b', { dotAll: true }).test('a\nb'), true);
    assert.equal(compileRegex('a.*b').test('a\na-b'), true);
  });

  test('folds case as RE2 does, beyond ASCII, too', () => {
    assert.equal(compileRegex('error', { fold: true }).test('ERRor'), true);
    assert.equal(compileRegex('(?i)k').test('\u212a'), true);
    assert.equal(compileRegex('(?i)s').test('\u017f'), true);
    assert.equal(compileRegex('(?i)i').test('\u0130'), false);
    assert.equal(compileRegex('(?i)straße').test('STRAẞE'), true);
    assert.equal(compileRegex('(?i)a(?-i)b').test('AB'), false);
  });

  test('gives its groups by number and by name', () => {
    const pattern = compileRegex('(?P<method>[A-Z]+) (/\\S*)( HTTP)?');
    assert.deepEqual(pattern.exec('"GET /a"'), ['GET /a"', 'GET', '/a"', undefined]);
    assert.deepEqual(pattern.groupNames, [undefined, 'method', undefined, undefined]);
    assert.equal(pattern.exec('nothing'), undefined);
    assert.deepEqual(compileRegex('(a+)(b?)', { anchored: true }).exec('aa'), ['aa', 'aa', '']);
  });

  test('replaces with the groups that a template names', () => {
    const pattern = compileRegex('(?P<k>\\w+)=(\\w*)');
    assert.equal(pattern.replaceAll('a=1, b=', '$2:${k}'), '1:a, :b');
    assert.equal(pattern.replaceAll('a=1', '$k_x'), '', 'an unbraced name is as long as it can be');
    assert.equal(pattern.replaceAll('a=1', '$$1 ${9} $'), '$1  $');
    assert.equal(compileRegex('x*').replaceAll('abxc', '-'), '-a-b-c-');
    assert.equal(compileRegex('a*', { anchored: true }).replaceAll('ba', 'x'), 'ba');
    assert.equal(compileRegex('host-(\\d+)', { anchored: true }).replaceAll('host-7', '$1'), '7');
  });

  test('is refused with the reason when it is none, or none of RE2', () => {
    refuses('a(b', /error parsing regexp: missing closing \): `a\(b`/);
    refuses('a**', /invalid nested repetition operator/);
    refuses('(?=a)', /invalid/);
    refuses('(a)\\1', /invalid escape sequence/);
    refuses('(?<=a)b', /invalid/);
    refuses('\ud800', /not valid Unicode/);
  });

  test('is refused when it is so large that it could hold the thread', () => {
    refuses('a'.repeat(5000), /longer than 4096/);
    refuses('(a{1000}){1000}', /repeats too much|invalid repeat count/);
    refuses(Array.from({ length: 20 }, () => '[ab]{1000}').join(''), /repeats too much/);
    refuses('((((a{10}){10}){10}){10}){10}', /repeats too much|invalid repeat count/);
    refuses('('.repeat(2000) + 'a' + ')'.repeat(2000), /nest|repeats/);
    assert.equal(compileRegex('a'.repeat(4096)).test('a'.repeat(5000)), true);
    assert.equal(compileRegex('[a-z]{1000}').test('b'.repeat(1000)), true);
  });

  test('takes time with the subject alone, whatever it is made of', () => {
    const subject = `${'a'.repeat(100_000)}!`;
    for (const text of [
      '(a+)+$',
      '(a|aa)+$',
      '(a*)*b',
      '(.*)*x',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '.*.*.*.*=.*y',
      'a?'.repeat(50) + 'a{50}$',
    ]) {
      compileRegex(text).test(subject);
      compileRegex(text).exec(subject.slice(0, 5_000));
    }
  });
});

describe('what is known about a pattern without running it', () => {
  test('its literals, when it is nothing else', () => {
    const literals = (text: string, anchored = true): string[] | undefined => {
      const found = compileRegex(text, { anchored, dotAll: true }).literals;
      return found && [...found].sort();
    };
    assert.deepEqual(literals('GET|POST'), ['GET', 'POST']);
    assert.deepEqual(literals('a(b|c)?\\.example\\.com'), [
      'a.example.com',
      'ab.example.com',
      'ac.example.com',
    ]);
    assert.deepEqual(literals('^(?:x|)$'), ['', 'x']);
    assert.deepEqual(literals('a[.]b'), ['a.b']);
    assert.deepEqual(literals('\\Qa.b\\E'), ['a.b']);
    assert.deepEqual(literals('GET|POST', false), ['GET', 'POST']);
    assert.equal(literals('GET|POST|', false), undefined);
    assert.equal(literals('^GET', false), undefined);
    assert.equal(literals('(?i)get'), undefined);
    assert.equal(literals('a.b'), undefined);
    assert.equal(literals('a+'), undefined);
  });

  test('what every match begins with, and what it contains', () => {
    const known = (text: string): unknown[] => {
      const { prefix, contains } = compileRegex(text, { anchored: true });
      return [prefix, contains];
    };
    assert.deepEqual(known('node_.*'), ['node_', 'node_']);
    assert.deepEqual(known('.*timeout \\d+ms'), [undefined, 'timeout ']);
    assert.deepEqual(known('(?:abc|abd).*'), ['ab', undefined]);
    assert.deepEqual(
      known('x?yz+'),
      [undefined, 'yz'].map((text) => text && 'y'),
    );
    assert.deepEqual(known('(?i)abc'), [undefined, undefined]);
  });

  const piece = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(
        'a',
        'b',
        'i',
        'k',
        's',
        'A',
        '-',
        '\\.',
        'é',
        '\\n',
        '😀',
        '[.]',
        '\\x41',
        '\\x{1F600}',
        '\\Qa.b\\E',
        '\\141',
      ),
    },
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        '[a-k]+',
        '[^ab]*',
        '\\d+',
        '\\S+',
        '\\D',
        '[-a]',
        '[a-]+',
        '[\\d-]',
        '[a-k-]',
        'b+',
        'a{0,2}',
        '\\s?',
        '[\\.\\w]+',
        '(a)?',
        '(b|é)?',
        '(ab|a)',
        '(a+)',
      ),
    },
    { weight: 6, arbitrary: fc.constantFrom('.', '.*', '.+', '(?s).*', '(?s:.)', '.*?', '.+?') },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '[ab]',
        '[^a]',
        '\\d',
        '\\w',
        '\\b',
        '^',
        '$',
        '\\A',
        '\\z',
        '(?m)^',
        '(?m:$)',
        '\\pL',
        '[[:alpha:]]',
        '[]a]',
        '[^]a]',
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '(?i)',
        '(?i:ab)',
        '(?-i)',
        '(?U)',
        'a{2}',
        '{',
        'a{,2}',
        'b{1,}',
        '(?P<x>a)',
        '()',
      ),
    },
  );
  const pattern = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
      fc
        .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{0,1}', '??', ''))
        .map(([inner, times]) => `(${inner})${times}`),
      fc.array(tie('node'), { minLength: 2, maxLength: 3 }).map((nodes) => nodes.join('|')),
      fc.array(tie('node'), { minLength: 2, maxLength: 3 }).map((nodes) => nodes.join('')),
    ),
  })).node;
  const subject = fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        'k',
        's',
        'A',
        'B',
        'K',
        '-',
        '.',
        'é',
        'É',
        '\n',
        '\u212a',
        '\u017f',
        '\u0130',
        '😀',
        '{',
        ']',
        'a.b',
        '\ud83d',
        '1',
      ),
      {
        maxLength: 8,
      },
    )
    .map((parts) => parts.join(''));

  test('never changes what matches', () => {
    let decided = 0;
    fc.assert(
      fc.property(
        pattern,
        fc.array(subject, { minLength: 6, maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (text, subjects, anchored, fold, dotAll) => {
          let engine: RE2JS;
          try {
            engine = RE2JS.compile(
              text,
              (fold ? RE2JS.CASE_INSENSITIVE : 0) | (dotAll ? RE2JS.DOTALL : 0),
            );
          } catch {
            assert.throws(() => compileRegex(text, { anchored, fold, dotAll }), {
              code: 'invalid_argument',
            });
            return;
          }
          const {
            test: matches,
            exec,
            literals,
            prefix,
            contains,
          } = compileRegex(text, { anchored, fold, dotAll });
          for (const one of [
            ...subjects,
            ...subjects.map((other) => `${prefix ?? ''}${other}`),
            ...(literals ?? []),
          ]) {
            const expected = anchored ? engine.testExact(one) : engine.test(one);
            assert.equal(
              matches(one),
              expected,
              `${JSON.stringify(text)} on ${JSON.stringify(one)}`,
            );
            assert.deepEqual(
              exec(one),
              groupsOf(engine, one, anchored),
              `${JSON.stringify(text)} in ${JSON.stringify(one)}`,
            );
            if (literals !== undefined) {
              assert.equal(
                anchored
                  ? literals.has(one)
                  : [...literals].some((literal) => one.includes(literal)),
                expected,
                `literals of ${JSON.stringify(text)}`,
              );
            }
            if (expected) {
              decided++;
              assert.ok(
                one.includes(contains ?? ''),
                `${JSON.stringify(text)} needs no ${contains}`,
              );
              assert.ok(
                !anchored || one.startsWith(prefix ?? ''),
                `${JSON.stringify(text)} does not begin with ${prefix}`,
              );
            }
          }
        },
      ),
      { numRuns: 6_000 },
    );
    assert.ok(decided > 5_000, `only ${decided} subjects matched`);
  });
});

function groupsOf(
  engine: RE2JS,
  subject: string,
  anchored: boolean,
): (string | undefined)[] | undefined {
  const found = engine.matcher(subject);
  return (anchored ? found.matches() : found.find())
    ? Array.from({ length: engine.groupCount() + 1 }, (_, i) => found.group(i) ?? undefined)
    : undefined;
}

describe('the quick engine of the runtime', () => {
  const longest = (text: string, anchored = false): number => {
    const { native } = factsOf(text, { anchored, fold: false, dotAll: false });
    return native === undefined
      ? 0
      : ([1e6, 1e4, 300, 50].find((length) => native.isQuick('x'.repeat(length))) ?? 0);
  };

  test('is used where no two ways through a pattern run over the same place', () => {
    assert.equal(longest('status=[45]\\d\\d'), 1e6);
    assert.equal(longest('duration=\\d+\\.\\d+ms'), 1e6);
    assert.equal(longest('^(\\S+) (\\S+) "(GET|POST)'), 1e6);
    assert.equal(longest('"([^"]*)"'), 1e6);
    assert.equal(longest('web-0[1-3]\\..*'), 1e6);
    assert.equal(longest('(?i)error \\d+$'), 1e6);
  });

  test('is used on short subjects only where they could', () => {
    assert.equal(longest('\\d+ms'), 300);
    assert.equal(longest('a\\w+b'), 300);
    assert.equal(longest('.*web-0[1-3].*', true), 300);
    assert.equal(longest('\\w+\\d+x'), 50);
  });

  test('is not used where a pattern repeats more than single characters', () => {
    for (const text of [
      '(a+)+$',
      '(a|aa)+$',
      '(ab)*',
      '(a*)*b',
      'a?'.repeat(20) + 'a{20}',
      '\\w+\\w+\\w+x',
      'a*?b',
      '(?U)a*b',
      '\\bx',
      '[[:alpha:]]',
      '\\pL',
      '(?i)é',
      '(a|b*)',
    ]) {
      assert.equal(longest(text), 0, text);
    }
  });
});

describe('a label matcher', () => {
  test('compares, or matches the whole value', () => {
    assert.equal(matcher('job', '=', 'a').matches('a'), true);
    assert.equal(matcher('job', '!=', '').matches(''), false);
    assert.equal(matcher('job', '=~', 'a.*').matches('ab\nc'), true);
    assert.equal(matcher('job', '=~', 'b').matches('abc'), false);
    assert.equal(matcher('job', '!~', 'a|b').matches('ab'), true);
    assert.equal(matcher('job', '!~', '.+').matches(''), true);
    assert.throws(() => matcher('job', '=~', '('), { code: 'invalid_argument' });
  });
});
