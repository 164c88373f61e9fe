import { createHash } from 'node:crypto';
import { join, relative, sep } from 'node:path';

import { bundleSources } from '../../bundler/sources.ts';
import { bundlePlugin, bundleThread } from '../../bundler/bundle.ts';
import { bundleCommand } from '../../bundler/bundle-command.ts';
import type { BundleSources } from '../../bundler/esbuild.ts';
import { areaCommandsOf, builtFile } from '../../manifest/area-commands.ts';
import { type Bundle, type PluginFolder, workersIn } from '../../../core/host/index.ts';
import { readManifest } from '../../manifest/read-manifest.ts';
import type { PluginManifest } from '../../../core/sdk/index.ts';

const builtEntry = 'index.cjs';

/** Matches files needed only to build the plugin, besides the sources that went into its bundle. */
const workshop = /^(?:test|dist)\/|\.[cm]?tsx?$|^(?:package(?:-lock)?|tsconfig)\.json$/;

/** A plugin's folder in the form that is installed: CommonJS texts, its data, hashes of everything. Same source, same bytes. */
export async function prebuild(
  folder: PluginFolder,
  { hashes = true } = {},
): Promise<ReadonlyMap<string, Buffer>> {
  const manifest = readManifest(folder);
  const code = await programs(folder, manifest);
  const commands = await commandTexts(folder, manifest);
  const texts = new Map([...code.texts, ...commands.texts]);
  const sources = new Set([...code.sources, ...commands.sources]);
  const data = folder
    .files()
    .filter(
      (name) =>
        name !== 'plugin.json' && !sources.has(name) && !texts.has(name) && !workshop.test(name),
    );
  const content = new Map<string, Buffer>([
    ...texts,
    ...data.map((name) => [name, folder.read(name)!] as const),
  ]);
  const integrity = hashes
    ? Object.fromEntries([...content].sort(byName).map(([name, bytes]) => [name, sha256(bytes)]))
    : undefined;
  return new Map([
    [
      'plugin.json',
      builtManifest(folder, integrity, texts.has(builtEntry) ? builtEntry : undefined),
    ],
    ...[...content].sort(byName),
  ]);
}

/** The code, one text for the plugin and one for each of its threads; none for a plugin without code, or one that comes prebuilt. */
async function programs(
  folder: PluginFolder,
  { id, kind, entry }: PluginManifest,
): Promise<{ texts: ReadonlyMap<string, Buffer>; sources: ReadonlySet<string> }> {
  if (entry === undefined || entry.endsWith('.cjs')) {
    return { texts: new Map(), sources: new Set() };
  }
  const from = sourcesFor(kind);
  const workers = kind === 'pack' ? [] : workersIn(folder.files());
  const bundles = await Promise.all([
    bundlePlugin(join(folder.path, entry), id, from),
    ...workers.map((name) => bundleThread(join(folder.path, `${name}.ts`), id, from)),
  ]);
  const names = [builtEntry, ...workers.map((name) => `${name}.cjs`)];
  return {
    texts: new Map(bundles.map(({ code }, index) => [names[index]!, Buffer.from(code)])),
    sources: sourcesOf(folder, bundles),
  };
}

/** Bundles an area's commands, each as one text that is loaded when called. */
async function commandTexts(
  folder: PluginFolder,
  manifest: PluginManifest,
): Promise<{ texts: ReadonlyMap<string, Buffer>; sources: ReadonlySet<string> }> {
  const files = Object.values(areaCommandsOf(manifest, folder)).map(({ file }) => file);
  const from = sourcesFor(manifest.kind);
  const bundles = await Promise.all(
    files.map((file) => bundleCommand(join(folder.path, file), manifest.id, from)),
  );
  return {
    texts: new Map(bundles.map(({ code }, index) => [builtFile(files[index]!), Buffer.from(code)])),
    sources: sourcesOf(folder, bundles),
  };
}

const sourcesOf = (folder: PluginFolder, bundles: readonly Bundle[]): ReadonlySet<string> =>
  new Set(
    bundles
      .flatMap(({ inputs }) => inputs)
      .map((input) => relative(folder.path, input).replaceAll(sep, '/')),
  );

/**
 * Returns the sources for a build: the result goes elsewhere, and the process of a pack shares
 * nothing except the contract.
 */
export function sourcesFor(kind: PluginManifest['kind']): BundleSources {
  const { cacheDirs: _hereOnly, ...sources } = bundleSources;
  return { ...sources, portable: true, ...(kind === 'pack' && { lent: new Set(['svc/sdk']) }) };
}

/** Returns the manifest as written, with the built entry and the hashes. */
function builtManifest(
  folder: PluginFolder,
  integrity: Readonly<Record<string, string>> | undefined,
  entry: string | undefined,
): Buffer {
  const { $schema: _forEditors, ...written } = JSON.parse(
    folder.read('plugin.json')!.toString('utf8'),
  ) as Record<string, unknown>;
  return Buffer.from(
    `${JSON.stringify({ ...written, ...(entry !== undefined && { entry }), ...(integrity && { integrity }) }, undefined, 2)}\n`,
  );
}

export const sha256 = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;
