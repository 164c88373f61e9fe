import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { sourceBundler } from '../../bin/bundler/sources.ts';
import { folderOnDisk } from '../../core/host/folder/folder.ts';
import { readManifest } from '../../bin/manifest/read-manifest.ts';
import { messageOf } from 'svc/sdk';

import type { Ground, Try } from './pack-escape-ground.ts';

/** Files of a pack, `links` and `hard` by name → target; `S` stands for the path of the secret and `R` for its relative one. */
interface Folder {
  readonly files: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly hard?: Readonly<Record<string, string>>;
  readonly entry?: string;
}

const shows = (what: string): Folder => ({
  files: { 'index.ts': `${what}\nexport default { start() { console.log(k); } };` },
});

const specifiers: readonly string[] = [
  ...[
    'S',
    'R',
    'file://S',
    'file:S',
    './/../R',
    './x/../../R',
    'x/../../R',
    'svc/../R',
    'node:S',
    'S?raw',
    'S#x',
    'R?raw',
    '..\\R',
    '%2e%2e/R',
  ],
  ...[
    'data:text/javascript,import k from "S";export default k',
    '#k',
    '~/R',
    'node_modules/../R',
    'svc/sdk/../../R',
  ],
];

const forms: readonly ((from: string) => string)[] = [
  (from) => `import k from ${from} with { type: 'text' };`,
  (from) => `const k = require(${from});`,
];

const folders: readonly (readonly [string, Folder])[] = [
  ...specifiers.flatMap((specifier) =>
    forms.map((form) => [form(specifier), shows(form(JSON.stringify(specifier)))] as const),
  ),
  ...['json', 'bytes', 'file', 'binary', 'base64', 'dataurl', 'copy', 'css'].map(
    (type) => [`attribute ${type}`, shows(`import k from "R" with { type: '${type}' };`)] as const,
  ),
  ['import()', shows(`const k = await0("R"); function await0(x: string) { return import("R"); }`)],
  [
    'import() of a name made at run time',
    shows('const n = process.argv0; const k = import(`R${n}`);'),
  ],
  ['glob of a parent', shows('const n = process.argv0; const k = import(`../${n}`);')],
  [
    'glob of all parents',
    shows('const n = process.argv0; const k = require("../../../../../../../" + n + ".key");'),
  ],
  ['glob of the root', shows('const n = process.argv0; const k = require(`/${n}/passwd`);')],
  ['glob through itself', shows('const n = process.argv0; const k = require(`./../${n}.key`);')],
  ['export all', shows('export * from "R"; const k = 1;')],
  ['require.resolve', shows('const k = require.resolve("R");')],
  ['URL of the module', shows('const k = new URL("R", import.meta.url);')],
  ['import equals', shows('import k = require("R");')],
  [
    'source map beside it',
    { files: { 'index.js': `exports.k = 1;\n//# sourceMappingURL=R.map` }, entry: 'index.js' },
  ],
  [
    'source map by path',
    { files: { 'index.js': `exports.k = 1;\n//# sourceMappingURL=S.map` }, entry: 'index.js' },
  ],
  [
    'source map by URL',
    {
      files: { 'index.js': `exports.k = 1;\n//# sourceMappingURL=file://S.map` },
      entry: 'index.js',
    },
  ],
  [
    'tsconfig paths',
    {
      ...shows(`import k from 'k' with { type: 'text' };`),
      files: {
        'index.ts': `import k from 'k'; console.log(k)`,
        'tsconfig.json': `{"compilerOptions":{"baseUrl":"/","paths":{"k":["S"]}}}`,
      },
    },
  ],
  [
    'tsconfig extends',
    { files: { 'index.ts': `export default 1`, 'tsconfig.json': `{"extends":"S"}` } },
  ],
  [
    'tsconfig jsx',
    {
      files: {
        'index.tsx': `export default <k/>`,
        'tsconfig.json': `{"compilerOptions":{"jsx":"react-jsx","jsxImportSource":"S"}}`,
      },
      entry: 'index.tsx',
    },
  ],
  [
    'package main',
    {
      files: {
        'index.ts': `import k from './p'; console.log(k)`,
        'p/package.json': `{"main":"../R"}`,
      },
    },
  ],
  [
    'package exports',
    {
      files: {
        'index.ts': `import k from 'p'; console.log(k)`,
        'p/package.json': `{"name":"p","exports":"S"}`,
      },
    },
  ],
  [
    'package imports',
    {
      files: {
        'index.ts': `import k from '#k'; console.log(k)`,
        'package.json': `{"imports":{"#k":"S"}}`,
      },
    },
  ],
  [
    'package browser',
    {
      files: {
        'index.ts': `import k from './a'; console.log(k)`,
        'package.json': `{"browser":{"./a":"S"}}`,
      },
    },
  ],
  [
    'package of its own',
    {
      files: {
        'index.ts': `import k from 'p'; console.log(k)`,
        'node_modules/p/package.json': `{"main":"S"}`,
      },
    },
  ],
  [
    'jsx source',
    {
      files: {
        'index.tsx': `/** @jsxRuntime automatic */ /** @jsxImportSource S */ export default <k/>`,
      },
      entry: 'index.tsx',
    },
  ],
  [
    'reference',
    {
      files: {
        'index.ts': `/// <reference path="R" />\n/// <amd-dependency path="R" />\nexport default 1`,
      },
    },
  ],
  [
    'style',
    {
      files: {
        'index.ts': `import k from './a.css'; console.log(k)`,
        'a.css': `@import "S"; a { background: url(R) }`,
      },
    },
  ],
  [
    'page',
    {
      files: {
        'index.ts': `import k from './a.html'; console.log(k)`,
        'a.html': `<script src="S"></script>`,
      },
    },
  ],
  [
    'link',
    { files: { 'index.ts': `import k from './k.txt'; console.log(k)` }, links: { 'k.txt': 'S' } },
  ],
  [
    'link to code',
    { files: { 'index.ts': `import k from './k.js'; console.log(k)` }, links: { 'k.js': 'S' } },
  ],
  [
    'link to a folder',
    { files: { 'index.ts': `import k from './d/secret.key'; console.log(k)` }, links: { d: 'D' } },
  ],
  [
    'hidden link',
    {
      files: { 'index.ts': `import k from './.d/secret.key'; console.log(k)` },
      links: { '.d': 'D' },
    },
  ],
  [
    'link in packages',
    {
      files: { 'index.ts': `import k from './node_modules/secret.key'; console.log(k)` },
      links: { node_modules: 'D' },
    },
  ],
  [
    'hard link',
    { files: { 'index.ts': `import k from './k.txt'; console.log(k)` }, hard: { 'k.txt': 'S' } },
  ],
  ['entry is a link', { files: {}, links: { 'index.ts': 'S' } }],
  ['entry is a hard link', { files: {}, hard: { 'index.cjs': 'S' }, entry: 'index.cjs' }],
  ['entry outside', { files: { 'index.ts': '' }, entry: 'R' }],
  ['json outside', shows(`import k from "R.map";`)],
];

/** Attempts during a pack's own build: their output, or the error. */
export const buildTries = (ground: Ground): readonly Try[] =>
  folders.map(([name, folder], index) => ({
    stage: 'build',
    name,
    attempt: async () => {
      const path = join(ground.home, `build-${index}`, 'thief');
      lay(path, folder, ground);
      try {
        const { pack } = sourceBundler(join(ground.home, 'cache'));
        const read = folderOnDisk('thief', path, 'data');
        const manifest = readManifest(read);
        const { code, inputs } = await pack(read, { ...manifest, entry: manifest.entry! });
        // The name of a file that the pack has itself is no secret, nor is what it wrote.
        return `${code} ${code.replaceAll(/base64,(\S+)/g, (_all, map: string) => Buffer.from(map, 'base64').toString())} ${inputs.filter((input) => !input.startsWith(path)).join(' ')}`;
      } catch (error) {
        return messageOf(error);
      }
    },
  }));

function lay(
  path: string,
  { files, links = {}, hard = {}, entry = 'index.ts' }: Folder,
  { secret, relative }: Ground,
): void {
  const real = (text: string): string =>
    text
      .replaceAll(/\bS\b/g, secret)
      .replaceAll(/\bR\b/g, relative)
      .replaceAll(/\bD\b/g, dirname(secret));
  mkdirSync(path, { recursive: true });
  const manifest = {
    id: 'thief',
    version: '1.0.0',
    title: 'Thief',
    description: 'Takes.',
    kind: 'pack',
    engines: { host: '^1.0.0' },
    entry: real(entry),
  };
  for (const [name, text] of Object.entries({
    'plugin.json': JSON.stringify(manifest),
    ...files,
  })) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), name === 'plugin.json' ? text : real(text));
  }
  Object.entries(links).forEach(([name, target]) => symlinkSync(real(target), join(path, name)));
  Object.entries(hard).forEach(([name, target]) => linkSync(real(target), join(path, name)));
}
