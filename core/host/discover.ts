import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { folderOnDisk, type PluginFolder } from './folder.ts';

export interface PluginRoot {
  readonly path: string;
  readonly origin: PluginFolder['origin'];
}

/** Where plugins are looked for: roots on disk, in order, then what the binary carries. */
export interface PluginSources {
  readonly roots: readonly PluginRoot[];
  readonly embedded: readonly PluginFolder[];
}

/** Every folder with a `plugin.json`; the first one of an id wins, so a data folder never hides a shipped area. */
export function discover(sources: PluginSources): ReadonlyMap<string, PluginFolder> {
  const found = new Map<string, PluginFolder>();
  for (const root of sources.roots) {
    for (const id of subfolders(root.path)) {
      if (!found.has(id) && lstatSync(join(root.path, id, 'plugin.json'), { throwIfNoEntry: false })) {
        found.set(id, folderOnDisk(id, join(root.path, id), root.origin));
      }
    }
  }
  for (const folder of sources.embedded) {
    if (!found.has(folder.id)) {
      found.set(folder.id, folder);
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
