import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { readFrontMatter } from '../../../../plugins/lib/markdown-file/front-matter.ts';
import { isSvcError } from '../../../../core/sdk/index.ts';

const canaryFile = join(tmpdir(), `svc-canary-${process.pid}`);
const payload = `(globalThis.svcCanary = true, require('fs').writeFileSync(${JSON.stringify(canaryFile)}, 'x'), {})`;
const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...'bcdefghij'
    .split('')
    .map((key, index) => `${key}: &${key} [${`*${'abcdefghi'[index]}, `.repeat(9)}]`),
];

/** Files that are refused, by what they try, with the words that must be in the reason. */
const refused: Record<string, readonly [text: string, reason: RegExp]> = {
  'a JavaScript header': [`---js\n${payload}\n---\nbody`, /first line must be exactly ---/],
  'a JavaScript header by its long name': [`---javascript\n${payload}\n---\nbody`, /first line/],
  'a JavaScript header in capitals, set apart': [`--- JS\n${payload}\n---\nbody`, /first line/],
  'a JavaScript header behind a tab': [`---\tjs\n${payload}\n---\nbody`, /first line/],
  'a JavaScript header behind a byte order mark': [
    `\uFEFF---js\n${payload}\n---\nbody`,
    /first line/,
  ],
  'a JavaScript header behind a carriage return': [`---\rjs\n${payload}\n---\nbody`, /first line/],
  'a CoffeeScript header': [`---coffee\n${payload}\n---\nbody`, /first line/],
  'a CSON header': [`---cson\na: 1\n---\nbody`, /first line/],
  'a JSON header': [`---json\n{"a": 1}\n---\nbody`, /first line/],
  'a TOML header': ['---toml\na = 1\n---\nbody', /first line/],
  'a header named after an object method': [`---constructor\na: 1\n---\nbody`, /first line/],
  'a header that names YAML': ['---yaml\na: 1\n---\nbody', /first line/],
  'a first line with a blank behind it': ['--- \na: 1\n---\nbody', /first line/],
  'a first line of four dashes': ['----\na: 1\n----\nbody', /first line/],
  'two byte order marks': ['\uFEFF\uFEFF---\na: 1\n---\nbody', /first line/],
  'a blank line before the header': ['\n---\na: 1\n---\nbody', /first line/],
  'no header': ['# A title\n', /first line.*# A title/],
  'an empty file': ['', /first line/],
  'a header that is never closed': ['---\na: 1\nbody', /not closed/],
  'nothing but the first line': ['---', /not closed/],
  'a closing line with more on it': ['---\na: 1\n---js\nbody', /Line 3 begins with ---/],
  'a closing line of four dashes': ['---\na: 1\n----\nbody', /Line 3 begins with ---/],
  'a JavaScript function tag': [
    `---\na: !!js/function 'function () { ${payload} }'\n---\n`,
    /Line 2: tags/,
  ],
  'a regular expression tag': ['---\na: !!js/regexp /x/\n---\n', /tags/],
  'a binary tag': ['---\na: !!binary aGVsbG8=\n---\n', /tags/],
  'a tag of its own': ['---\na: !mine x\n---\n', /tags/],
  'an alias bomb': [`---\n${bomb.join('\n')}\n---\n`, /anchors/],
  'one alias': ['---\na: x\nb: *a\n---\n', /Line 3: references/],
  'an unquoted glob': ['---\nfiles:\n  - *.md\n---\n', /Line 3: references.*quote it/],
  'a merge key': ['---\n<<: {a: 1}\n---\n', /"<<" is not allowed/],
  'a version directive': ['---\n%YAML 1.1\n---\n', /directives/],
  'two documents': ['---\na: 1\n...\nb: 2\n---\n', /one YAML document/],
  'a key that reaches for the prototype': ['---\n__proto__: {admin: true}\n---\n', /"__proto__"/],
  'such a key deep inside': ['---\na: {b: [{__proto__: {admin: true}}]}\n---\n', /"__proto__"/],
  'a constructor key': [
    '---\nconstructor: {prototype: {admin: true}}\n---\n',
    /"constructor"|"prototype"/,
  ],
  'a key twice': ['---\na: 1\na: 2\n---\n', /Line 3: Map keys must be unique/],
  'a list as a key': ['---\n? [a]\n: b\n---\n', /every key must be a text/],
  'a list': ['---\n- a\n---\n', /lines such as/],
  'a text': ['---\nhello\n---\n', /lines such as/],
  'indentation by tabs': ['---\na:\n\tb: 1\n---\n', /Line 3: Tabs/],
  'a quote that is never closed': ['---\na: "x\n---\n', /Missing closing/],
  'an endless number': ['---\na: .inf\n---\n', /cannot be stored exactly; quote it/],
  'a number with more digits than are kept': [
    '---\nid: 12345678901234567890\n---\n',
    /cannot be stored exactly; quote it/,
  ],
  'lists 400 deep': [
    `---\na: ${'['.repeat(400)}${']'.repeat(400)}\n---\n`,
    /nested more than 32 levels/,
  ],
  'an unclosed list 60,000 deep': [`---\na: ${'['.repeat(60_000)}\n---\n`, /more than 1000 values/],
  'mappings 60,000 deep': [`---\n${'{'.repeat(60_000)}\n---\n`, /more than 1000 values/],
  'dashes 30,000 deep': [`---\n${'- '.repeat(30_000)}\n---\n`, /more than 1000 values/],
  'indentation 300 deep': [
    `---\n${Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')}\n---\n`,
    /nested more than 32 levels/,
  ],
  'more than 1,000 values': [`---\na:\n${'- b\n'.repeat(1_001)}---\n`, /more than 1000 values/],
  'more than 64 KiB': [`---\na: 1\n---\n${'x'.repeat(65_536)}`, /larger than 64 KiB/],
  '60,000 blank lines': [`---\n${'\n'.repeat(60_000)}\n---\n`, /blank lines in a row/],
  '20,000 line separators': [`---\n${'\u2028'.repeat(20_000)}\n---\n`, /blank lines in a row/],
};

/** Files that are read, with the header and the body they give. */
const read: Record<string, readonly [text: string, header: object, body: string]> = {
  'a plain header': ['---\nname: x\n---\nbody\n', { name: 'x' }, 'body\n'],
  'Windows line ends': ['---\r\nname: x\r\n---\r\nbody\r\n', { name: 'x' }, 'body\r\n'],
  'a byte order mark, which is no part of the text': [
    '\uFEFF---\nname: x\n---\nbody',
    { name: 'x' },
    'body',
  ],
  'an empty header': ['---\n---\nbody', {}, 'body'],
  'a header of comments': ['---\n# nothing\n\n# here\n---\nbody', {}, 'body'],
  'no body': ['---\na: 1\n---', { a: 1 }, ''],
  'a body that begins with blank lines': ['---\na: 1\n---\n\n\n  body', { a: 1 }, '\n\n  body'],
  'a body with rulers, trailing blanks and a second header': [
    '---\na: 1\n---\nx  \n---\nb: 2\n---\n\ty\n\n',
    { a: 1 },
    'x  \n---\nb: 2\n---\n\ty\n\n',
  ],
  'a body that looks like code': [
    `---\na: 1\n---\n---js\n${payload}\n---\n`,
    { a: 1 },
    `---js\n${payload}\n---\n`,
  ],
  'dates, which stay texts': [
    '---\na: 2026-11-20\nb: 2026-11-20T18:09:00Z\n---\n',
    { a: '2026-11-20', b: '2026-11-20T18:09:00Z' },
    '',
  ],
  'the words of old YAML, which stay texts': [
    '---\na: yes\nb: off\nc: y\n---\n',
    { a: 'yes', b: 'off', c: 'y' },
    '',
  ],
  'null in its spellings': ['---\na:\nb: ~\nc: null\n---\n', { a: null, b: null, c: null }, ''],
  'signs inside texts': [
    '---\na: "*x"\nb: |\n  *x\n  &y !z\n  %w\nc: "__proto__"\n---\n',
    { a: '*x', b: '*x\n&y !z\n%w\n', c: '__proto__' },
    '',
  ],
  'a name of an excerpt, which gray-matter would look for': [
    '---\nexcerpt_separator: x\n---\naxb',
    { excerpt_separator: 'x' },
    'axb',
  ],
  'a long text at the end': ['---\na: |\n  x\n  y\n---\n', { a: 'x\ny\n' }, ''],
  'a long text at the end with Windows line ends': [
    '---\r\na: >-\r\n  x\r\n  y\r\n---\r\n',
    { a: 'x y' },
    '',
  ],
  'nested values': [
    '---\na: {b: [1, 2.5, true, {c: d}]}\n---\n',
    { a: { b: [1, 2.5, true, { c: 'd' }] } },
    '',
  ],
};

describe('reading the header of a markdown file', () => {
  for (const [what, [text, reason]] of Object.entries(refused)) {
    test(`refuses ${what}`, () => {
      assert.throws(
        () => readFrontMatter(text),
        (error: Error) =>
          isSvcError(error) &&
          error.code === 'invalid_argument' &&
          reason.test(error.message) &&
          error.message.length < 300,
      );
    });
  }

  for (const [what, [text, header, body]] of Object.entries(read)) {
    test(`reads ${what}`, () => {
      assert.deepEqual(readFrontMatter(text), { header, body });
    });
  }

  test('has run none of the code that was in them', () => {
    assert.equal('svcCanary' in globalThis, false);
    assert.equal(existsSync(canaryFile), false);
    assert.equal('admin' in {}, false);
  });

  test('refuses an alias bomb before it grows', () => {
    const started = performance.now();
    assert.throws(() => readFrontMatter(refused['an alias bomb']![0]));
    assert.ok(performance.now() - started < 50);
  });

  test('hands out values that nobody can change for somebody else', () => {
    const text = '---\na: {b: [1]}\n---\nbody';
    const [first, second] = [readFrontMatter(text), readFrontMatter(text)];
    assert.notEqual(first.header, second.header);
    assert.throws(() => (first.header['a'] as { b: number[] }).b.push(2), TypeError);
    assert.throws(() => ((first.header as Record<string, unknown>)['c'] = 1), TypeError);
  });

  test('takes a smaller limit when asked to', () => {
    assert.throws(
      () => readFrontMatter(`---\na: 1\n---\n${'é'.repeat(600)}`, { maxBytes: 1024 }),
      /larger than 1 KiB/,
    );
  });

  test('keeps every body byte for byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '\r\n'), (body, end) => {
        assert.deepEqual(readFrontMatter(`---${end}name: x${end}---${end}${body}`), {
          header: { name: 'x' },
          body,
        });
      }),
    );
  });

  test('answers whatever it is given with a header or a sentence', () => {
    const scraps = fc.constantFrom(
      ...'---|\n|\r\n| |: |- |[|]|{|}|,|"|\'|#|&a|*a|!|!!js/function|%YAML|...|? |<<|__proto__|a|1|~|\t|\\|>|@|`'.split(
        '|',
      ),
      '|',
    );
    fc.assert(
      fc.property(fc.array(scraps, { maxLength: 60 }), (parts) => {
        try {
          assert.equal(typeof readFrontMatter(`---\n${parts.join('')}\n---\n`).header, 'object');
        } catch (error) {
          assert.ok(isSvcError(error), String(error));
        }
      }),
      { numRuns: 2_000 },
    );
    assert.equal('svcCanary' in globalThis, false);
  });
});
