import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { folderOnDisk, type PluginFolder } from './folder.ts';

export interface PluginRoot {
  readonly path: string;
  readonly origin: PluginFolder['origin'];
  /** Look at these ids only. */
  readonly only?: readonly string[];
}

/** Sources of plugins: contents of the binary, then roots on disk, in order. */
export interface PluginSources {
  readonly embedded: readonly PluginFolder[];
  readonly roots: readonly PluginRoot[];
}

/** Two folders with the same id. */
type Twins = (first: PluginFolder, second: PluginFolder) => void;

/** Every folder with a `plugin.json`; the first one of an id wins, so a data folder never hides a shipped area, and `twins` hears of the other. */
export function discover(
  sources: PluginSources,
  twins: Twins = () => undefined,
): ReadonlyMap<string, PluginFolder> {
  const found = new Map<string, PluginFolder>(
    sources.embedded.map((folder) => [folder.id, folder]),
  );
  for (const root of sources.roots) {
    for (const id of subfolders(root.path)) {
      if (root.only && !root.only.includes(id)) {
        continue;
      }
      const path = join(root.path, id);
      const first = found.get(id);
      if (
        first?.path === path ||
        !lstatSync(join(path, 'plugin.json'), { throwIfNoEntry: false })
      ) {
        continue;
      }
      const folder = folderOnDisk(id, path, root.origin);
      if (first) {
        twins(first, folder);
      } else {
        found.set(id, folder);
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
