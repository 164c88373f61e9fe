import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { PluginRoot } from '../../core/host/folder/discover.ts';
import { SvcError } from '../../core/sdk/index.ts';

/** A pack that somebody put into the data folder: what it asks for waits for an administrator. */
export const packRootOf = (folder: string): PluginRoot => ({
  path: dirname(folder),
  origin: 'data',
  only: [basename(folder)],
});

/** The checkout whose tests run. */
export const testedRoot = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the location of a test's plugin: the id of a shipped one, or the absolute path of its
 * folder.
 */
export function rootOf(plugin: string): PluginRoot {
  const folder = isAbsolute(plugin) ? plugin : join(testedRoot, 'plugins', plugin);
  if (!existsSync(join(folder, 'plugin.json'))) {
    throw new SvcError(
      'not_found',
      `${folder} has no plugin.json; name a shipped plugin or give the absolute path of a plugin's folder`,
    );
  }
  return { path: dirname(folder), origin: 'shipped', only: [basename(folder)] };
}
