import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { folderOnDisk, type PluginFolder } from './folder.ts';

export interface PluginRoot {
  readonly path: string;
  readonly origin: PluginFolder['origin'];
  /** Look at these ids only. */
  readonly only?: readonly string[];
}

/** Where plugins are looked for: what the binary carries, then roots on disk, in order. */
export interface PluginSources {
  readonly embedded: readonly PluginFolder[];
  readonly roots: readonly PluginRoot[];
}

/** Every folder with a `plugin.json`; the first one of an id wins, so a data folder never hides a shipped area. */
export function discover(sources: PluginSources): ReadonlyMap<string, PluginFolder> {
  const found = new Map<string, PluginFolder>(sources.embedded.map((folder) => [folder.id, folder]));
  for (const root of sources.roots) {
    for (const id of subfolders(root.path)) {
      if (root.only && !root.only.includes(id)) {
        continue;
      }
      if (!found.has(id) && lstatSync(join(root.path, id, 'plugin.json'), { throwIfNoEntry: false })) {
        found.set(id, folderOnDisk(id, join(root.path, id), root.origin));
      }
    }
  }
  return found;
}

function subfolders(root: string): string[] {
  if (!lstatSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    return [];
  }
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[a-z][a-z0-9-]*$/.test(entry.name))
    .map((entry) => entry.name)
    .sort();
}
