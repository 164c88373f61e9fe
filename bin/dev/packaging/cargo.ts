import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { discover, folderOnDisk } from '../../../core/host/index.ts';
import { sdkVersion } from '../../../core/sdk/index.ts';
import { scaffoldFolder } from '../scaffold/scaffold.ts';
import {
  addonFile,
  type Contents,
  contentsAsset,
  fileAsset,
  pluginAsset,
  threadAsset,
} from '../../product/contents.ts';
import { prebuild, sha256 } from './prebuilt-plugin.ts';
import { programText } from './program-text.ts';

/** Everything the binary carries besides its program, by asset name. */
export async function cargo(
  root: string,
  version: string,
  releaseKey?: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const plugins = new Map([
    ...(await shippedPlugins(root)),
    ['shipped-files', shippedFiles(root, version)] as const,
  ]);
  const threads = await threadPrograms(root);
  const files = new Map([...plainFiles(root), ...(await shippedPacks(root))]);
  const contents: Contents = {
    plugins: Object.fromEntries([...plugins].map(([id, content]) => [id, [...content.keys()]])),
    threads: [...threads.keys()],
    files: Object.fromEntries([...files].map(([name, bytes]) => [name, sha256(bytes)])),
    ...(releaseKey !== undefined && { releaseKey }),
  };
  return new Map<string, Uint8Array>([
    [contentsAsset, Buffer.from(JSON.stringify(contents))],
    ...[...plugins].flatMap(([id, content]) =>
      [...content].map(([file, bytes]) => [pluginAsset(id, file), bytes] as const),
    ),
    ...[...threads].map(([name, text]) => [threadAsset(name), Buffer.from(text)] as const),
    ...[...files].map(([name, bytes]) => [fileAsset(name), bytes] as const),
  ]);
}

async function shippedPlugins(
  root: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, Buffer>>> {
  const built = new Map<string, ReadonlyMap<string, Buffer>>();
  for (const folder of discover({
    roots: [{ path: join(root, 'plugins'), origin: 'shipped' }],
    embedded: [],
  }).values()) {
    // Part of one file that is signed as a whole: hashing each of its parts at every start would cost a tenth of it.
    built.set(folder.id, await prebuild(folder, { hashes: false }));
  }
  return built;
}

/** Personas, skills, playbooks and the manual, which belong to no area, travel as a plugin without code. */
function shippedFiles(root: string, version: string): ReadonlyMap<string, Buffer> {
  const manifest = {
    id: 'shipped-files',
    version,
    title: 'Shipped personas and skills',
    description: 'Personas, skills and texts that ship with svc but belong to no area.',
    engines: { host: `^${sdkVersion}` },
  };
  const playbooks = filesBelow(root, 'vault');
  const manual = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...filesBelow(root, 'docs').filter((name) => /^docs\/(?:[^/]+\.md|pictures\/.+)$/.test(name)),
  ];
  const names = [
    ...filesBelow(root, 'agents'),
    ...filesBelow(root, 'skills'),
    ...playbooks,
    ...manual,
  ];
  const list = Buffer.from(JSON.stringify(playbooks.map((name) => name.slice('vault/'.length))));
  return new Map([
    ['plugin.json', Buffer.from(JSON.stringify(manifest))],
    ['vault/index.json', list],
    ...names.map((name) => [name, readFileSync(join(root, name))] as const),
  ]);
}

/** Threads cannot be started from the program's own text: each has one of its own, named like its source. */
async function threadPrograms(root: string): Promise<ReadonlyMap<string, string>> {
  const sources = ['core', 'bin']
    .flatMap((folder) => filesBelow(root, folder))
    .filter((name) => name.endsWith('-worker.ts'));
  const texts = await Promise.all(sources.map((source) => programText(source, root)));
  // Threads of plugins are included with the plugins; only the database's package is not bundled
  // with them.
  const sqlite = [
    'better-sqlite3',
    await programText('bin/dev/packaging/sqlite.ts', root),
  ] as const;
  return new Map([
    sqlite,
    ...sources.map(
      (source, index) =>
        [source.slice(source.lastIndexOf('/') + 1, -'.ts'.length), texts[index]!] as const,
    ),
  ]);
}

/**
 * Returns the path of the addon: compiled here, or one of those shipped by its successor for Node
 * 22 and later.
 */
function addonPath(folder: string): string {
  const brought = join(folder, 'prebuilds', `${process.platform}-${process.arch}.node`);
  return existsSync(brought) ? brought : join(folder, 'build', 'Release', 'better_sqlite3.node');
}

/**
 * Returns the files opened by path at run time: the addon, defaults, core's own migrations,
 * playbooks, and the template of a new pack.
 */
function plainFiles(root: string): ReadonlyMap<string, Buffer> {
  const addon = addonPath(
    dirname(createRequire(join(root, 'package.json')).resolve('better-sqlite3/package.json')),
  );
  const names = [
    'config/default.yaml',
    ...filesBelow(root, 'core').filter((name) => name.endsWith('.sql')),
    ...filesBelow(root, 'vault'),
    ...filesBelow(root, 'marketplace'),
    ...filesBelow(root, `${scaffoldFolder}/built`),
    ...filesBelow(root, `${scaffoldFolder}/texts`),
  ].filter((name) => !/^marketplace\/.*\.ts$/.test(name));
  return new Map([
    [addonFile, readFileSync(addon)],
    ...names.map((name) => [name, readFileSync(join(root, name))] as const),
  ]);
}

/** Packs with code, in the form that is installed: the binary has no compiler. */
async function shippedPacks(root: string): Promise<ReadonlyMap<string, Buffer>> {
  const packs = filesBelow(root, 'marketplace').flatMap(
    (name) => /^marketplace\/([^/]+)\/plugin\.json$/.exec(name)?.[1] ?? [],
  );
  const built = await Promise.all(
    packs.map((id) => prebuild(folderOnDisk(id, join(root, 'marketplace', id), 'shipped'))),
  );
  return new Map(
    packs.flatMap((id, index) =>
      [...built[index]!].map(([name, bytes]) => [`marketplace/${id}/${name}`, bytes] as const),
    ),
  );
}

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, ''))
    .sort();
}
