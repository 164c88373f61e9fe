import { createHash } from 'node:crypto';
import { join, relative, sep } from 'node:path';

import { sharedModules } from '../../core/boot/shared-modules.ts';
import { bundle, type PluginFolder, readManifest } from '../../core/host/index.ts';
import type { PluginManifest } from '../../core/sdk/index.ts';

const builtEntry = 'index.cjs';

/** What is only there to make the plugin, besides the sources that went into its bundle. */
const workshop = /^(?:test|dist)\/|\.[cm]?tsx?$|^(?:package(?:-lock)?|tsconfig)\.json$/;

/** A plugin's folder in the form that is installed: one CommonJS text, its data, hashes of everything. Same source, same bytes. */
export async function prebuild(folder: PluginFolder): Promise<ReadonlyMap<string, Buffer>> {
  const manifest = readManifest(folder);
  const { code, sources } = await program(folder, manifest);
  const data = folder.files().filter((name) => name !== 'plugin.json' && !sources.has(name) && (!code || name !== builtEntry) && !workshop.test(name));
  const content = new Map<string, Buffer>([...(code ? [[builtEntry, code] as const] : []), ...data.map((name) => [name, folder.read(name)!] as const)]);
  return new Map([['plugin.json', builtManifest(folder, content, code && builtEntry)], ...[...content].sort(byName)]);
}

/** The code as one text; undefined for a plugin without code, or one that comes prebuilt. */
async function program(folder: PluginFolder, { id, kind, entry }: PluginManifest): Promise<{ code: Buffer | undefined; sources: ReadonlySet<string> }> {
  if (entry === undefined || entry.endsWith('.cjs')) {
    return { code: undefined, sources: new Set() };
  }
  const { code, inputs } = await bundle(join(folder.path, entry), id, lentTo(kind));
  return { code: Buffer.from(code), sources: new Set(inputs.map((input) => relative(folder.path, input).replaceAll(sep, '/'))) };
}

/** What stays an import: the process of a pack has nothing to lend but the contract. */
export const lentTo = (kind: PluginManifest['kind']): ReadonlySet<string> => new Set(kind === 'pack' ? ['svc/sdk'] : sharedModules.keys());

/** The manifest as it was written, with the built entry and the hashes. */
function builtManifest(folder: PluginFolder, content: ReadonlyMap<string, Buffer>, entry: string | undefined): Buffer {
  const { $schema: _forEditors, ...written } = JSON.parse(folder.read('plugin.json')!.toString('utf8')) as Record<string, unknown>;
  const integrity = Object.fromEntries([...content].sort(byName).map(([name, bytes]) => [name, sha256(bytes)]));
  return Buffer.from(`${JSON.stringify({ ...written, ...(entry !== undefined && { entry }), integrity }, undefined, 2)}\n`);
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
