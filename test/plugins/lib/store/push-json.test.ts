import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import { JsonList, parsePushJson } from '../../../../plugins/lib/store/index.ts';

const lists = ['list', 'entries'];
const parsed = (text: string): unknown => whole(parsePushJson(Buffer.from(text), lists));

/** The value with what is read in pieces as arrays. */
function whole(value: unknown): unknown {
  if (value instanceof JsonList || Array.isArray(value)) {
    return Array.from(value, whole);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, whole(field)]))
    : value;
}

const long = 'words, of [many] {kinds} \\" and "'.repeat(2_500);

test('a body read in pieces is what the parser makes of it at once', () => {
  const spaced = fc.constantFrom(undefined, 1, '\t');
  const leaf = fc.oneof(
    fc.constantFrom(long, '', '\\', '"', '}', '⚙️', null, true),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const name = fc.constantFrom('list', 'entries', 'other', '"', '__proto__', 'a:b');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map(Object.fromEntries),
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), fc.string(), spaced, (list, other, space) => {
      // `-0` has no text of its own in JSON.
      const text = JSON.stringify({ other, list: [...list, long, ...list] }, undefined, space);
      assert.deepEqual(parsed(text), whole(JSON.parse(text)));
    }),
    { numRuns: 60 },
  );
});

test('of what is broken in a large body, nothing is taken for something else', () => {
  const text = JSON.stringify({ list: [{ entries: [long, 1, [2]] }, long, {}], other: [long] });
  const signs = text.split('').flatMap((sign, at) => ('{}[],:'.includes(sign) ? [at] : []));
  const outside = signs.filter(
    (at) => at < 30 || at > text.length - 30 || text.slice(at - 2, at + 3).includes('2'),
  );
  for (const at of outside) {
    for (const put of ['', ',', ']', '}', ':']) {
      const broken = text.slice(0, at) + put + text.slice(at + 1);
      let expected: unknown;
      try {
        expected = whole(JSON.parse(broken));
      } catch {
        assert.throws(
          () => parsed(broken),
          SyntaxError,
          broken.slice(Math.max(0, at - 20), at + 20),
        );
        continue;
      }
      assert.deepEqual(parsed(broken), expected);
    }
  }
  assert.throws(() => parsed(`${text} {}`), SyntaxError);
  assert.throws(() => parsed(text.slice(0, -1)), SyntaxError);
});

test('long lists are no arrays, and what cannot be read in pieces is bounded', () => {
  const empty = `[${'[],'.repeat(300_000)}[]]`;
  const read = parsePushJson(Buffer.from(`{"list":${empty}}`), lists) as { list: unknown };
  assert.ok(read.list instanceof JsonList);
  assert.throws(() => parsed(`{"other":${empty}}`), /has more than 200000 values/);
  assert.throws(() => parsed(`{"list":[{"a":${empty}}]}`), /has more than 200000 values/);
  assert.throws(() => parsed('['.repeat(300)), /more than 256 levels/);
});
