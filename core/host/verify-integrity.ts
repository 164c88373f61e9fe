import { createHash } from 'node:crypto';

import { type PluginManifest, SvcError } from '../sdk/index.ts';
import type { PluginFolder } from './folder.ts';

/** Holds every file against the manifest's hashes; a plugin without hashes (one being developed) passes. */
export function verifyIntegrity(folder: PluginFolder, manifest: PluginManifest): void {
  const expected = manifest.integrity;
  if (!expected) {
    return;
  }
  const stranger = folder
    .files()
    .find((name) => name !== 'plugin.json' && !Object.hasOwn(expected, name));
  if (stranger !== undefined) {
    throw new SvcError(
      'invalid_argument',
      `${manifest.id}: ${stranger} is not listed in integrity; rebuild the plugin or remove the file`,
    );
  }
  for (const [name, hash] of Object.entries(expected)) {
    const content = folder.read(name);
    if (!content) {
      throw new SvcError(
        'invalid_argument',
        `${manifest.id}: ${name} is listed in integrity but missing; install the plugin again`,
      );
    }
    if (createHash('sha256').update(content).digest('hex') !== hash) {
      throw new SvcError(
        'invalid_argument',
        `${manifest.id}: ${name} was changed after the plugin was built; install it again`,
      );
    }
  }
}
