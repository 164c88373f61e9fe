import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Source, sourcesIn } from './source.ts';

const form = /^[a-z][a-z0-9-]*\.[a-z][a-z0-9_]*$/;
/** `log.warn({ event: '…'` and `new SvcError(…, { reason: '…'`: the code comes first, where a reader looks for it. */
const ofLines = /\blog\??\.(?:debug|info|warn|error)\(\s*\{\s*event: '([^']*)'/g;
const ofErrors = /\breason: '([^']*\.[^']*)'/g;

const codes = sourcesIn('core', 'plugins', 'bin').flatMap(({ path, text }: Source) =>
  [...text.matchAll(ofLines), ...text.matchAll(ofErrors)].map((match) => ({
    path,
    code: match[1]!,
  })),
);

test('every warning and every error has a code', () => {
  const call = /\blog(?:ger)?(?:\('[a-z.-]+'\))?\??\s*\.\s*(?:warn|error)\(\s*\{(?!\s*event)/g;
  const bare = sourcesIn('core', 'plugins', 'bin').flatMap(({ path, text }: Source) =>
    [...text.matchAll(call)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  );
  assert.deepEqual(bare, []);
});

test('a message code is an area and what happened there', () => {
  assert.deepEqual(
    codes.filter(({ code }) => !form.test(code)),
    [],
  );
  assert.ok(codes.length > 0);
});

test('a message code names one sentence: it stands at one place of the sources', () => {
  const shared = codes.filter(
    ({ code }, index) => codes.findIndex((other) => other.code === code) !== index,
  );
  assert.deepEqual(shared, []);
});

/** The names of things instead: which account, which file, which host. */
const vague = /\b(?:any|every|no|some)body\b|\bwhoever\b|\bsomething\b/i;

test('an error names who and what is meant', () => {
  const errors = sourcesIn('core', 'plugins', 'bin').flatMap(({ path, text }: Source) =>
    [...text.matchAll(/new (?:SvcError|Error|UsageError)\(([^;]*?)\);/g)].map((match) => ({
      path,
      said: match[1]!,
    })),
  );
  assert.deepEqual(
    errors.filter(({ said }) => vague.test(said.replaceAll(/\/\/[^\n]*/g, ''))),
    [],
  );
  assert.ok(errors.length > 500, `${errors.length} errors`);
});
