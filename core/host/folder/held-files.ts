import { createHash } from 'node:crypto';

import type { HeldFile } from '../../sdk/index.ts';
import { errors } from './errors.ts';
import { isPluginFile, type PluginFolder } from './folder.ts';

/** One hash for the files of a plugin, as far as the host reads them. */
export const hashOfFiles = (files: readonly HeldFile[]): string =>
  sha256(
    JSON.stringify(
      files
        .filter(({ path }) => isPluginFile(path))
        .toSorted((a, b) => (a.path < b.path ? -1 : 1))
        .map(({ path, sha256: hash }) => [path, hash]),
    ),
  );

/** Compares the files on disk with those that were installed; throws if any was changed since. */
export function verifyHeld(folder: PluginFolder, held: string | undefined): void {
  if (held === undefined) {
    return;
  }
  const found = folder
    .files()
    .map((path) => ({ path, sha256: sha256(folder.read(path) ?? Buffer.alloc(0)) }));
  if (hashOfFiles(found) !== held) {
    throw errors.modified({ plugin: folder.id });
  }
}

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');
