import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { runChecks } from '../../bin/dev/run-checks.mjs';
import { staleFiles } from '../../bin/dev/stale-files.mjs';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Three files, each importing the one before it by way of an `exports` name or a path. */
const clean = {
  'package.json': JSON.stringify({ name: 'svc', type: 'module', exports: { './lib': './lib.ts' } }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'ES2023',
      module: 'NodeNext',
      noEmit: true,
      strict: true,
      allowImportingTsExtensions: true,
    },
  }),
  '.oxlintrc.json': JSON.stringify({
    ignorePatterns: ['node_modules'],
    rules: { 'typescript/no-floating-promises': 'error' },
  }),
  '.oxfmtrc.json': JSON.stringify({
    singleQuote: true,
    ignorePatterns: ['node_modules', '**/*.json'],
  }),
  'lib.ts': 'export const work = (): number => 1;\n',
  'room/middle.ts': "export { work } from 'svc/lib';\n",
  'room/user.ts': "import { work } from './middle.ts';\n\nwork();\n",
  'room/stranger.ts': 'export const own = 1;\n',
};

function project(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'svc-check-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  symlinkSync(modules, join(root, 'node_modules'));
  const cache = join(root, 'data', 'cache');
  const record = join(cache, 'type-aware-lint.json');
  const put = (path: keyof typeof clean, text: string = clean[path]): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const path of Object.keys(clean) as (keyof typeof clean)[]) {
    put(path);
  }
  return {
    put,
    stale: () => staleFiles(root, record).files?.toSorted(),
    /** Names of the tools that complain. */
    async complaints(all = false): Promise<string[]> {
      return (await runChecks(root, { all, cache }))
        .filter(({ code }) => code !== 0)
        .map(({ name }) => name);
    },
  };
}

test('what an earlier check has found never hides what a change makes wrong elsewhere', async (t) => {
  const { put, stale, complaints } = project(t);
  assert.equal(stale(), undefined, 'nothing is known yet');
  assert.deepEqual(await complaints(), []);
  assert.deepEqual(stale(), []);

  // Clean by itself, and wrong in a file that is as it was: a promise is dropped there now.
  put('lib.ts', 'export const work = async (): Promise<number> => await Promise.resolve(1);\n');
  assert.deepEqual(stale(), ['lib.ts', 'room/middle.ts', 'room/user.ts']);
  assert.deepEqual(await complaints(), ['typed lint']);
  assert.deepEqual(await complaints(), ['typed lint'], 'red stays red');

  put('lib.ts', 'export const work = (_more: number): number => 1;\n');
  assert.deepEqual(await complaints(), ['types']);
  assert.deepEqual(await complaints(), ['types'], 'red stays red');

  put('lib.ts');
  put('room/stranger.ts', 'export const own = 2;\n');
  assert.deepEqual(stale()?.includes('room/stranger.ts'), true);
  assert.deepEqual(await complaints(), []);
  assert.deepEqual(stale(), []);
});

test('a change of the configuration, the packages or a declaration file makes every file stale, and so does the wish for all', async (t) => {
  const { put, stale, complaints } = project(t);
  put('room/user.ts', "import { work } from './middle.ts';\n\nvoid work();\nPromise.resolve(1);\n");
  put(
    '.oxlintrc.json',
    JSON.stringify({
      ignorePatterns: ['node_modules'],
      rules: { 'typescript/no-floating-promises': 'off' },
    }),
  );
  assert.deepEqual(await complaints(), []);
  assert.deepEqual(stale(), []);
  put('.oxlintrc.json');
  assert.equal(stale(), undefined);
  assert.deepEqual(await complaints(), ['typed lint']);

  put('room/user.ts');
  assert.deepEqual(await complaints(), []);
  put(
    'room/stranger.ts',
    'export {};\n\ndeclare global {\n  interface Array<T> {\n    own: T;\n  }\n}\n',
  );
  assert.equal(stale(), undefined);
  put('room/stranger.ts');
  assert.deepEqual(await complaints(true), []);
});
