import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { bundleSources } from '../../bin/bundler/sources.ts';
import { bundlePlugin, bundleThread } from '../../bin/bundler/bundle.ts';
import type { BundleSources } from '../../bin/bundler/esbuild.ts';
import { cachedBundle, keepBundle } from '../../bin/bundler/bundle-cache.ts';
import { splitMap } from '../../bin/product/stack-maps.ts';

/** An installation with one plugin in it. */
function installation(t: TestContext): {
  sources: BundleSources;
  write(name: string, text: string): string;
  kept(): readonly string[];
} {
  const root = mkdtempSync(join(tmpdir(), 'svc-bundles-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    const file = join(root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  write('package-lock.json', '{}');
  const cache = join(root, 'cache');
  mkdirSync(cache);
  return {
    sources: { ...bundleSources, root, cacheDirs: [cache] },
    write,
    kept: () => readdirSync(cache),
  };
}

/** Time as if the files had been unchanged for a while when the bundle was begun. */
const later = (): number => Date.now() + 10_000;

test('a bundle is kept by what it was made of: content counts, times do not', (t) => {
  const { sources, write, kept } = installation(t);
  const [entry, other] = [write('plugins/a/index.ts', 'one'), write('plugins/a/other.ts', 'two')];
  const bundle = { code: 'the code\nof it', filename: entry, inputs: [entry, other] };
  keepBundle(sources, 'key', bundle, later());
  assert.deepEqual(cachedBundle(sources, 'key'), { code: bundle.code, inputs: bundle.inputs });
  assert.equal(cachedBundle(sources, 'another key'), undefined);

  utimesSync(other, new Date(0), new Date(0));
  assert.ok(cachedBundle(sources, 'key'), 'a fresh checkout of the same files');
  write('plugins/a/other.ts', 'tow');
  assert.equal(cachedBundle(sources, 'key'), undefined);
  write('plugins/a/other.ts', 'two');
  assert.ok(cachedBundle(sources, 'key'));
  write('package-lock.json', '{"another": "bundler"}');
  assert.equal(cachedBundle(sources, 'key'), undefined);
  keepBundle(sources, 'key', { ...bundle, code: 'newer' }, later());
  assert.equal(cachedBundle(sources, 'key')?.code, 'newer');
  rmSync(other);
  assert.equal(cachedBundle(sources, 'key'), undefined);
  assert.equal(kept().length, 1, 'a newer bundle takes the place of the older one');
});

test('the map of a kept bundle lies beside it, and those of a few bundles before', (t) => {
  const { sources, write, kept } = installation(t);
  const entry = write('plugins/a/index.ts', 'one');
  const withMap = (generation: number): string =>
    `text ${generation}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(`{"generation":${generation}}`).toString('base64')}\n`;
  for (const generation of [1, 2, 3, 4, 5]) {
    keepBundle(
      sources,
      'key',
      { code: withMap(generation), filename: entry, inputs: [entry] },
      later(),
    );
    const { text, map } = splitMap(cachedBundle(sources, 'key')!.code);
    assert.equal(text, `text ${generation}\n`);
    assert.equal(readFileSync(map as string, 'utf8'), `{"generation":${generation}}`);
    // As if all of it had been written a while before the next one.
    for (const name of kept()) {
      const file = join(sources.cacheDirs![0]!, name);
      utimesSync(file, new Date(0), new Date(statSync(file).mtimeMs - 1_000));
    }
  }
  assert.equal(kept().filter((name) => name.endsWith('.map')).length, 3);
  assert.equal(kept().length, 4);
});

test('a kept bundle that was touched is not used', (t) => {
  const { sources, write, kept } = installation(t);
  const entry = write('plugins/a/index.ts', 'one');
  keepBundle(sources, 'key', { code: 'the code', filename: entry, inputs: [entry] }, later());
  const file = join(sources.cacheDirs![0]!, kept()[0]!);
  writeFileSync(file, readFileSync(file, 'utf8').replace('the code', 'evil code'));
  assert.equal(cachedBundle(sources, 'key'), undefined);
  writeFileSync(file, 'no line');
  assert.equal(cachedBundle(sources, 'key'), undefined);
});

test('nothing is kept of files that are being changed, of plugins from elsewhere, or where nobody may write', (t) => {
  const { sources, write, kept } = installation(t);
  const entry = write('plugins/a/index.ts', 'one');
  const bundle = { code: 'the code', filename: entry, inputs: [entry] };
  keepBundle(sources, 'key', bundle, statSync(entry).ctimeMs);
  keepBundle({ ...sources, root: join(sources.root, 'elsewhere') }, 'key', bundle, later());
  assert.deepEqual(kept(), []);
  const taken = { ...sources, cacheDirs: [join(entry, 'no-folder')] };
  keepBundle(taken, 'key', bundle, later());
  assert.equal(cachedBundle(taken, 'key'), undefined);

  const next = { ...sources, cacheDirs: [...taken.cacheDirs, join(sources.root, 'cache')] };
  keepBundle(next, 'key', bundle, later());
  assert.equal(
    cachedBundle(next, 'key')?.code,
    'the code',
    'the next place that can be written has it',
  );
});

test('a plugin keeps its imports of lent modules, a thread brings them along and leaves the database outside', async (t) => {
  const { write } = installation(t);
  const { cacheDirs: _none, ...sources } = bundleSources;
  const text = `import Database from 'better-sqlite3';\nimport { SvcError } from 'svc/sdk';\nimport { parse } from 'yaml';\nexport const made = [Database, new SvcError('conflict', 'made'), parse];\n`;
  const entry = write('plugins/a/a-worker.ts', text);
  const thread = await bundleThread(entry, 'a', sources);
  assert.deepEqual(
    [...thread.code.matchAll(/require\("([^"]+)"\)/g)]
      .map(([, name]) => name)
      .filter((name) => !['process', 'buffer'].includes(name!)),
    ['better-sqlite3'],
  );
  assert.ok(thread.inputs.includes(sources.modules.get('svc/sdk')!));
  const plugin = await bundlePlugin(
    write('plugins/a/index.ts', text.replace(/.*better-sqlite3.*\n/, '').replace('Database, ', '')),
    'a',
    sources,
  );
  assert.match(plugin.code, /require\("svc\/sdk"\)/);
  assert.match(plugin.code, /require\("yaml"\)/);
});
