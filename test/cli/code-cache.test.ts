import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { CodeCache } from '../../bin/product/code-cache.mjs';
import { checkout, scratch, svc } from './launcher.ts';

const text = `let runs = 0;
exports.twice = (n) => { runs += 1; return n * 2; };
exports.fail = () => { throw new Error('here'); };
exports.place = [__filename, __dirname, require('what')];`;

interface Loaded {
  twice(n: number): number;
  fail(): never;
  readonly place: readonly string[];
}

function load(cache: CodeCache, code = text, filename = '/made/up.cjs'): Loaded {
  const exports = {};
  cache
    .functionOf(code, filename)!
    .call(exports, exports, (name: string) => `asked for ${name}`, { exports }, filename, '/made');
  return exports as Loaded;
}

test('a text is the same with and without what the engine made of it before', async (t) => {
  const folder = join(scratch(t), 'code');
  const first = new CodeCache(folder);
  const early = load(first);
  assert.equal(early.twice(21), 42);
  assert.equal(await first.keep(), 1);
  assert.equal(
    first.functionOf(text, '/made/up.cjs'),
    undefined,
    'what is loaded later is not kept, and is compiled for itself',
  );

  const second = new CodeCache(folder);
  const late = load(second);
  assert.equal(late.twice(4), 8);
  assert.deepEqual(late.place, ['/made/up.cjs', '/made', 'asked for what']);
  for (const { fail } of [early, late]) {
    assert.throws(fail, ({ stack }: Error) => stack!.includes('/made/up.cjs:3:30'));
  }
  assert.equal(await second.keep(), 0, 'it came from the folder');
});

test('places on the first line of a text are those of the text', () => {
  assert.throws(
    load(new CodeCache(undefined), "exports.fail = () => { throw new Error('here'); };").fail,
    ({ stack }: Error) => stack!.includes('/made/up.cjs:1:30'),
  );
});

test('what was made of another text, or was touched, is made anew', async (t) => {
  const folder = join(scratch(t), 'code');
  const keep = async (code: string): Promise<number> => {
    const cache = new CodeCache(folder);
    assert.equal(load(cache, code).twice(1), code === text ? 2 : 3);
    return await cache.keep();
  };
  assert.equal(await keep(text), 1);
  // Of the same length, which is all that the engine would look at.
  assert.equal(await keep(text.replace('n * 2', 'n + 2')), 1);
  assert.equal(await keep(text), 1);
  assert.equal(await keep(text), 0);
  const file = join(folder, readdirSync(folder)[0]!);
  const content = readFileSync(file);
  content[content.length - 40]! ^= 1;
  writeFileSync(file, content);
  assert.equal(await keep(text), 1);
  writeFileSync(file, content.subarray(0, 100));
  assert.equal(await keep(text), 1);
  assert.equal(await keep(text), 0);
});

test('where nothing can be written a start goes on without', async (t) => {
  const place = scratch(t);
  writeFileSync(join(place, 'file'), '');
  chmodSync(join(place, 'file'), 0o400);
  const cache = new CodeCache(join(place, 'file', 'code'));
  assert.equal(load(cache).twice(21), 42);
  assert.equal(await cache.keep(), 0);
  const none = new CodeCache(undefined);
  assert.equal(load(none).twice(21), 42);
  assert.equal(await none.keep(), 0);
});

test(
  'a program that was forgotten while a svc ran from its folder is made again',
  { timeout: 300_000 },
  async (t) => {
    const root = checkout(t, 'version');
    assert.equal((await svc(['version'], { root })).code, 0);
    const home = join(root, 'node_modules/.cache/svc');
    const [name] = readdirSync(home);
    rmSync(join(home, name!), { recursive: true });
    mkdirSync(join(home, name!, 'code'), { recursive: true });
    const again = await svc(['version'], { root });
    assert.equal(again.code, 0, again.stderr);
    assert.ok(existsSync(join(home, name!, 'svc.cjs')));
  },
);
