import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { bundlePlugin } from '../../bin/bundler/bundle.ts';
import { bundleSources } from '../../bin/bundler/sources.ts';
import { mapAt, splitMap } from '../../bin/product/stack-maps.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-maps-'));
after(() => rmSync(folder, { recursive: true }));

let texts: string;

/** The program that runs them, with the maps of svc and none of Node's. */
const program = `
  const { Module } = await import('node:module');
  const { stackMaps } = await import(${JSON.stringify(pathToFileURL(fileURLToPath(new URL('../../bin/product/stack-maps.ts', import.meta.url))).href)});
  process.setSourceMapsEnabled(false);
  const { readFileSync } = await import('node:fs');
  const run = ([filename, code]) => {
    const text = stackMaps.withoutMap(code, filename);
    if (text.includes('sourceMappingURL')) throw new Error('the map is still there');
    const module = new Module(filename);
    module._compile(text, filename);
    return module.exports.here;
  };
  const known = JSON.parse(readFileSync(process.argv[1], 'utf8')).map(run);
  const last = known.at(-1);
  const unmapped = last().stack;
  stackMaps.install();
  const told = known.map((here) => here().stack.split('\\n').slice(0, 2).join('|'));
  const odd = Object.assign(new Error('x'), { toString() { throw new Error('no name'); } });
  console.log(JSON.stringify({ told, carried: stackMaps.mapped(unmapped).split('\\n').slice(0, 2).join('|'), odd: odd.stack.split('\\n')[0] }));
`;

before(async () => {
  const made: [string, string][] = [];
  const index = join(folder, 'lamp', 'index.ts');
  for (const generation of [1, 2, 3, 4, 5]) {
    mkdirSync(join(folder, 'lamp'), { recursive: true });
    writeFileSync(index, `export { here } from './part.ts';\n`);
    writeFileSync(
      join(folder, 'lamp', 'part.ts'),
      `${'interface Gone {}\n'.repeat(generation)}export const here = (): Error =>\n  new Error('at ${generation}');\n`,
    );
    const { code } = await bundlePlugin(index, 'lamp', { ...bundleSources, cacheDirs: [] });
    made.push([
      generation === 1 ? index : `${index}#${generation}`,
      generation % 2 === 0 ? mapApart(code, generation) : code,
    ]);
  }
  texts = join(folder, 'texts.json');
  writeFileSync(texts, JSON.stringify(made));
});

/** Saves code as a bundle is kept: with its map in a separate file. */
function mapApart(code: string, generation: number): string {
  const { text, map } = splitMap(code);
  const file = join(folder, `${generation}.map`);
  writeFileSync(file, map!);
  return text + mapAt(file);
}

test('a stack names the lines of the sources, each generation by its own map; the oldest is forgotten', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', program, texts],
    { encoding: 'utf8' },
  );
  assert.equal(stderr, '');
  const { told, carried, odd } = JSON.parse(stdout) as {
    told: string[];
    carried: string;
    odd: string;
  };
  const part = join(folder, 'lamp', 'part.ts');
  assert.match(
    told[0]!,
    /^Error: at 1\|.*lamp\/index\.ts:\d+/,
    'the fifth generation lets the map of the first go',
  );
  assert.deepEqual(
    told.slice(1),
    [2, 3, 4, 5].map(
      (generation) => `Error: at ${generation}|    at here (${part}:${generation + 2}:3)`,
    ),
  );
  assert.equal(carried, told[4], 'a stack of another thread is read the same way');
  assert.equal(odd, 'Error');
});
