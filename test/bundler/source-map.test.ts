import assert from 'node:assert/strict';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { originsOf } from '../../bin/product/source-map.ts';
import { numbers } from '../drill/seeded.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

for (const minify of [false, true]) {
  test(`places of a ${minify ? 'minified ' : ''}bundle come from where Node says they do`, async () => {
    const { outputFiles } = await build({
      entryPoints: [join(root, 'bin/product/stack-maps.ts'), join(root, 'core/http/index.ts')],
      outdir: '/out',
      bundle: true,
      write: false,
      minify,
      platform: 'node',
      format: 'cjs',
      packages: 'external',
      sourcemap: 'external',
    });
    for (const { path, text } of outputFiles.filter(({ path: name }) => name.endsWith('.map'))) {
      const map = JSON.parse(text) as SourceMapPayload;
      const lines = outputFiles.find((file) => `${file.path}.map` === path)!.text.split('\n');
      const random = numbers(7);
      const places = Array.from({ length: 2_000 }, () => {
        const line = random(lines.length + 2) + 1;
        return { line, column: random((lines[line - 1]?.length ?? 0) + 3) + 1 };
      });
      const oracle = new SourceMap(map);
      const expected = places.map(({ line, column }) => {
        const entry = oracle.findEntry(line - 1, column - 1);
        return 'originalSource' in entry && entry.originalSource !== undefined
          ? {
              source: entry.originalSource,
              line: entry.originalLine + 1,
              column: entry.originalColumn + 1,
            }
          : undefined;
      });
      assert.deepEqual(originsOf(map, places), expected);
    }
  });
}
