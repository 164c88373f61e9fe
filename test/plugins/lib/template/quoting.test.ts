import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compileTemplate, unquote, unquoteBytes } from 'svc/template';

test('escapes of bytes are the bytes of UTF-8, as Go has it, and what is no UTF-8 is replaced', () => {
  assert.equal(unquote(String.raw`\xc3\xbc \303\274 \u00fc \U0001f600`), 'ü ü ü 😀');
  assert.deepEqual([...unquoteBytes(String.raw`a\xff\377`)!], [0x61, 0xff, 0xff]);
  assert.equal(unquote(String.raw`a\xffb`), 'a\ufffdb');
  assert.equal(unquote(String.raw`\a\b\f\n\r\t\v\\\"`), '\x07\b\f\n\r\t\v\\"');
});

test('what is no escape of Go is none here', () => {
  for (const inside of [
    String.raw`\q`,
    String.raw`\x1`,
    String.raw`\u12`,
    String.raw`\400`,
    String.raw`\ud800`,
    String.raw`\U00110000`,
    String.raw`\'`,
    '\\',
  ]) {
    assert.equal(unquote(inside), undefined, inside);
  }
  assert.equal(unquote(String.raw`it\'s`, "'"), "it's");
  assert.equal(unquote(String.raw`\"`, "'"), undefined);
});

test('the number of a character constant is a character', () => {
  assert.equal(compileTemplate(String.raw`{{'\xff'}} {{'\''}} {{'\n'}}`).render({}), '255 39 10');
});
