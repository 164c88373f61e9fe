import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { patternBuilders, trespasses, trusted } from './boundaries.ts';
import { filesIn, projectRoot, source, sourcesIn } from './source.ts';

test('no arrow of the import graph runs against the plan of the house', () => {
  assert.deepEqual(trespasses(sourcesIn('core', 'plugins', 'bin', 'test')), []);
});

test('gray-matter is imported in exactly one file', () => {
  const importers = sourcesIn('core', 'plugins', 'bin').filter(({ imports }) =>
    imports.some(({ specifier }) => specifier === 'gray-matter'),
  );
  assert.deepEqual(
    importers.map(({ path }) => path),
    ['plugins/lib/markdown-file/front-matter.ts'],
  );
});

test('tsc and esbuild see the same decorators: no tsconfig asks for emitted metadata', () => {
  const config = readFileSync(join(projectRoot, 'tsconfig.json'), 'utf8');
  assert.match(config, /"experimentalDecorators": true/);
  assert.doesNotMatch(config, /emitDecoratorMetadata/);
});

test('every file that is excused for building patterns still does so', () => {
  const sources = sourcesIn('core', 'plugins', 'bin');
  for (const path of Object.keys(patternBuilders)) {
    assert.match(
      sources.find((file) => file.path === path)?.code ?? '',
      /\bRegExp\s*\(/,
      `${path} needs its excuse in test/house/boundaries.ts no more`,
    );
  }
});

test('plugins are lent exactly the closed parts of node that are listed in the plan of the house', () => {
  const manifests = filesIn('plugins')
    .filter((path) => path.endsWith('/plugin.json'))
    .map(
      (path) =>
        JSON.parse(readFileSync(join(projectRoot, path), 'utf8')) as {
          id: string;
          trusted?: readonly string[];
        },
    );
  const named = manifests
    .filter((manifest) => manifest.trusted !== undefined)
    .map((manifest) => [manifest.id, manifest.trusted]);
  assert.deepEqual(Object.fromEntries(named), trusted);
});

/** Each rule, on a file that breaks it: path, text, and what the complaint must name. */
const planted: readonly [path: string, text: string, complaint: RegExp][] = [
  [
    'plugins/lamp/web/page.tsx',
    `import { x } from '../store.ts';`,
    /may import its own folder and preact/,
  ],
  [
    'plugins/lamp/web/page.tsx',
    `import { x } from 'svc/sdk';`,
    /may import its own folder and preact/,
  ],
  [
    'plugins/lamp/web/page.tsx',
    `const a = <p dangerouslySetInnerHTML={{ __html: x }} />;`,
    /writes HTML/,
  ],
  ['plugins/lamp/index.ts', `import { x } from './web/page.tsx';`, /reached by "browser:/],
  [
    'core/host/a.ts',
    `import { x } from '../http/index.ts';`,
    /core\/host may import core\/sdk, core\/registry/,
  ],
  ['core/host/a.ts', `import type { X } from '../http/index.ts';`, /core\/host may import/],
  ['core/host/a.ts', `export * from '../storage/index.ts';`, /core\/host may import/],
  ['core/host/a.ts', `const x = await import('../auth/index.ts');`, /core\/host may import/],
  ['core/host/a.ts', `let x: import('../auth/index.ts').Policy;`, /core\/host may import/],
  [
    'core/host/a.ts',
    `import {\n  x,\n  type Y,\n} from '../../plugins/lib/contracts/iam.ts';`,
    /core\/host may import/,
  ],
  ['core/registry/a.ts', `import '../host/index.ts';`, /core\/registry may import core\/sdk/],
  [
    'core/sdk/a.ts',
    `import type { X } from '../registry/index.ts';`,
    /core\/sdk may import nothing/,
  ],
  ['core/sdk/a.ts', `import { Type } from 'typebox';`, /needs nothing at run time/],
  ['core/sdk/a.ts', `import type { X } from 'express';`, /needs nothing at run time/],
  ['core/http/a.ts', `import { Draft } from '../registry/draft.ts';`, /entered by its index\.ts/],
  ['core/http/a.ts', `import { SvcError } from 'svc/sdk';`, /relative path/],
  ['core/attic/a.ts', `export {};`, /no room of the house/],
  [
    'core/http/a.ts',
    `import x from 'gray-matter';`,
    /only plugins\/lib\/markdown-file\/front-matter\.ts may/,
  ],
  ['core/host/a.ts', `import 'reflect-metadata';`, /only bin\/svc\.ts/],
  [
    'core/boot/a.ts',
    `import x from '../../test/peers.ts';`,
    /does not know its tests|may import core/,
  ],
  [
    'core/boot/a.ts',
    `@injectable() class A { constructor(@inject(B) b: B, c: C<D, E>) {} }`,
    /without @inject/,
  ],
  ['core/http/a.ts', `const p = new RegExp(input);`, /re2js/],
  ['bin/dev/setup.mjs', `import yaml from 'yaml';`, /bare clone/],
  ['bin/svc.ts', `import x from '../plugins/host/index.ts';`, /discovered/],
  [
    'plugins/bad/index.ts',
    `import { Registry } from '../../core/registry/index.ts';`,
    /may import svc\/sdk/,
  ],
  [
    'plugins/bad/index.ts',
    `import { store } from '../iam/store.ts';`,
    /svc\/contracts of every area/,
  ],
  [
    'plugins/bad/bad-worker.ts',
    `import { Worker } from 'node:worker_threads';`,
    /harmless node: modules/,
  ],
  [
    'plugins/bad/bad-worker.ts',
    `import { x } from '../lib/store/index.ts';`,
    /may import svc\/sdk, svc\/ssh, svc\/thread, svc\/flow, svc\/query/,
  ],
  [
    'plugins/bad/bad-worker.ts',
    `import { serveThread } from 'svc/thread';\nexport const open = 1;\nserveThread(open);`,
    /more than to call serveThread/,
  ],
  ['plugins/bad/index.ts', `import './bad-worker.ts';`, /only ctx\.threads starts it/],
  ['plugins/bad/store.ts', `import { serveThread } from 'svc/thread';`, /only the \*-worker\.ts/],
  [
    'plugins/lib/query/a.ts',
    `import { x } from 'svc/store';`,
    /may import svc\/sdk, svc\/flow, its own files/,
  ],
  [
    'plugins/lib/store/a.ts',
    `import { x } from 'svc/contracts/traces';`,
    /may import svc\/sdk, svc\/flow, svc\/query, svc\/probe/,
  ],
  [
    'plugins/lib/store/a.ts',
    `import { Worker } from 'node:worker_threads';`,
    /harmless node: modules/,
  ],
  ['plugins/lib/attic/a.ts', `export {};`, /no library of the product/],
  ['plugins/bad/index.ts', `import { table } from 'svc/cli';`, /its plugin knows nothing of it/],
  ['plugins/bad/index.ts', `import { x } from './cli/x.ts';`, /its plugin knows nothing of it/],
  ['plugins/bad/cli/x.ts', `import { x } from '../store.ts';`, /files of its own cli\//],
  ['plugins/bad/cli/x.ts', `import { x } from '../../iam/cli/x.ts';`, /files of its own cli\//],
  ['plugins/bad/cli/x.ts', `import { boot } from '../../../core/boot/boot.ts';`, /its own cli\//],
  ['core/http/a.ts', `import { x } from 'svc/query';`, /relative path/],
  ['plugins/bad/index.ts', `import express from 'express';`, /may import svc\/sdk/],
  ['plugins/bad/index.ts', `import { injectable } from 'tsyringe';`, /may import svc\/sdk/],
  ['plugins/bad/index.ts', `import { spawn } from 'node:child_process';`, /harmless node: modules/],
  ['plugins/bad/index.ts', `import { Worker } from 'worker_threads';`, /harmless node: modules/],
  [
    'plugins/bad/index.ts',
    `import { setTimeout } from 'node:timers/promises';`,
    /harmless node: modules/,
  ],
  ['plugins/bad/index.ts', `import process from 'node:process';`, /harmless node: modules/],
  ['plugins/programs/a.ts', `import { serialize } from 'node:v8';`, /harmless node: modules/],
  [
    'plugins/packs/a.ts',
    `import { servePack } from './inside/serve-pack.ts';`,
    /through pack-worker\.ts only/,
  ],
  ['plugins/packs/a.ts', `process.kill(1);`, /process: use/],
  ['plugins/programs/a.ts', `console.log('here');`, /ctx\.log/],
  ['plugins/lib/contracts/bad.ts', `import { store } from 'svc/store';`, /bundled into everyone/],
  ['plugins/bad/index.ts', `setInterval(() => {}, 1000);`, /ctx\.scope\.interval/],
  [
    'plugins/bad/index.ts',
    'const text = `${[1].map(() => { setTimeout(work, 1); return 1; })}`;',
    /ctx\.scope\.timeout/,
  ],
  ['plugins/bad/index.ts', `setImmediate(work);`, /ctx\.scope\.task/],
  ['plugins/bad/index.ts', `globalThis.cache = new Map();`, /globalThis/],
  ['plugins/bad/index.ts', `process.on('exit', work);`, /process: use/],
  ['plugins/bad/index.ts', `process['on']('exit', work);`, /process: use/],
  ['plugins/bad/index.ts', `console.log('here');`, /ctx\.log/],
  ['plugins/bad/index.ts', `import { watch } from 'node:fs';\nwatch('/etc', work);`, /fs\.watch/],
  ['plugins/bad/index.ts', `import fs from 'node:fs';\nfs.watch('/etc', work);`, /fs\.watch/],
  ['plugins/bad/index.ts', `const at = Date.now();`, /ctx\.clock/],
  ['plugins/bad/index.ts', `const at = new Date();`, /ctx\.clock/],
  ['plugins/bad/index.ts', `const id = Math.random();`, /ctx\.ids/],
  ['plugins/bad/index.ts', `@singleton() class A {}`, /decorators/],
  ['plugins/bad/index.ts', `const x = await import(name);`, /computed name/],
  ['plugins/bad/index.ts', `const x = require(name);`, /computed name/],
  ['plugins/bad/index.ts', `const f = new Function('return 1');`, /computed name/],
];

for (const [path, text, complaint] of planted) {
  test(`refused in ${path}: ${text.replaceAll('\n', ' ')}`, () => {
    assert.match(trespasses([source(path, text)]).join('\n'), complaint);
  });
}

test('a model plugin and what is only said in comments, strings and patterns pass', () => {
  const contract = `import { defineService } from 'svc/sdk';\nimport type { Node } from './nodes.ts';\nexport const Graph = defineService<Node>('topology.graph');`;
  const index = [
    `import { Type } from 'typebox';`,
    `import { createHash } from 'node:crypto';`,
    `import { definePlugin } from 'svc/sdk';`,
    `import { Users } from 'svc/contracts/iam';`,
    `import { nodes } from './nodes.ts';`,
    `// setInterval(…) and process.on(…) are refused; import x from 'express' too`,
    `const said = "console.log('x'); import y from 'express'";`,
    'const page = `<a href="mailto:x@example.org">${said} setTimeout(1)</a>`;',
    `const quotes = /['"\`]/.test(said) ? said.length / 2 / 3 : 0;`,
    `export default definePlugin({ activate(ctx) { ctx.scope.timeout('later', 5, () => ctx.log.info({ at: new Date(ctx.clock.now()) }, page)); } });`,
  ].join('\n');
  const worker = `import { serveThread } from 'svc/thread';\n\nimport {\n  openGraph,\n} from './graph.ts';\n\nserveThread(openGraph);\n`;
  const sources = {
    'lib/contracts/topology.ts': contract,
    'topology/index.ts': index,
    'topology/graph-worker.ts': worker,
  };
  assert.deepEqual(
    trespasses(Object.entries(sources).map(([name, text]) => source(`plugins/${name}`, text))),
    [],
  );
});
