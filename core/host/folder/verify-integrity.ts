import { createHash } from 'node:crypto';

import { type PluginManifest } from '../../sdk/index.ts';
import { errors } from './errors.ts';
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
    throw errors.file_unlisted({ plugin: manifest.id, file: stranger });
  }
  for (const [name, hash] of Object.entries(expected)) {
    const content = folder.read(name);
    if (!content) {
      throw errors.file_missing({ plugin: manifest.id, file: name });
    }
    if (createHash('sha256').update(content).digest('hex') !== hash) {
      throw errors.file_changed({ plugin: manifest.id, file: name });
    }
  }
}
