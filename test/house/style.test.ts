import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { filesIn, projectRoot, source, sourcesIn } from './source.ts';
import { blemishes, longestFile, longFiles, readmeProblem, topLevel } from './style.ts';

const read = (path: string): string | undefined =>
  existsSync(join(projectRoot, path)) ? readFileSync(join(projectRoot, path), 'utf8') : undefined;

test('every source file keeps the style of the house', () => {
  assert.deepEqual(sourcesIn('core', 'plugins', 'bin', 'test').flatMap(blemishes), []);
});

test('a file that is excused for its length still needs the excuse', () => {
  for (const path of Object.keys(longFiles)) {
    assert.ok(
      (read(path) ?? '').split('\n').length > longestFile,
      `${path} is short by now; take it out of longFiles in test/house/style.ts`,
    );
  }
});

test('every room and every plugin introduces itself in a short README', () => {
  const rooms = ['core', 'plugins', 'plugins/lib']
    .flatMap((top) => readdirSync(join(projectRoot, top)).map((name) => `${top}/${name}`))
    .filter((folder) => folder !== 'plugins/lib');
  const inhabited = ['bin', ...rooms].filter((folder) =>
    filesIn(folder).some((path) => /\.(ts|mjs|json)$/.test(path)),
  );
  assert.deepEqual(
    inhabited
      .map((folder) => readmeProblem(folder, read(`${folder}/README.md`)))
      .filter((problem) => problem !== undefined),
    [],
  );
});

test('the top level of the repository is the one the plan draws', () => {
  const found = readdirSync(projectRoot).filter(
    (name) =>
      !name.startsWith('.') &&
      !['node_modules', 'data', 'dist'].includes(name) &&
      !name.endsWith('.log'),
  );
  assert.deepEqual(
    found.filter((name) => !topLevel.includes(name)),
    [],
  );
});

/** Each rule, on a file that breaks it. */
const planted: readonly [path: string, text: string, complaint: RegExp][] = [
  ['core/http/pipeline.ts', 'const x = 1;\n'.repeat(longestFile + 1), /two nouns/],
  ['core/http/utils.ts', '', /says nothing/],
  ['core/http/date-helper.ts', '', /says nothing/],
  ['plugins/iam/common/user.ts', '', /says nothing/],
  ['core/http/pipeline.ts', `// ${'TO' + 'DO'}: later`, /finish it/],
  ['test/http/pipeline.test.ts', `test.only('one', () => {});`, /keeps other tests from running/],
  [
    'test/http/pipeline.test.ts',
    `test('one', { only: true }, () => {});`,
    /keeps other tests from running/,
  ],
  ['plugins/iam/users.test.ts', `test('one', () => {});`, /outside test\//],
];

for (const [path, text, complaint] of planted) {
  test(`refused: ${path} ${text.slice(0, 40).trim()}`, () => {
    assert.match(blemishes(source(path, text)).join('\n'), complaint);
  });
}

test('names that only contain such a word pass, and so do words in strings', () => {
  assert.deepEqual(
    blemishes(source('core/host/manifest-reader.ts', `const said = 'test.only(x)';`)),
    [],
  );
  assert.deepEqual(blemishes(source('plugins/im/communities.ts', '')), []);
});

test('a README that is missing or too long is named', () => {
  assert.match(readmeProblem('core/attic', undefined) ?? '', /core\/attic\/README\.md is missing/);
  assert.match(readmeProblem('core/attic', 'line\n'.repeat(21)) ?? '', /21 lines/);
  assert.equal(readmeProblem('core/attic', 'line\n'.repeat(20)), undefined);
});
