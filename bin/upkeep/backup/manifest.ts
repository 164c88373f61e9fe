import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { messageOf, type SvcError } from '../../../core/sdk/index.ts';
import { databaseName } from '../../../core/storage/index.ts';
import { isKnownName, partOf } from './contents.ts';
import { errors } from './errors.ts';

export const manifestName = 'manifest.json';

export interface BackedUpFile {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly modified_ms?: number;
}

export interface Manifest {
  readonly created_at: string;
  readonly app_version: string;
  readonly sqlite: string;
  readonly files: readonly BackedUpFile[];
  readonly tables: Readonly<Record<string, number>>;
  /** Existing parts that the backup left out; absent in backups of the database alone. */
  readonly left_out?: readonly string[];
}

/** Reads the manifest of a backup, which is no proof of its content yet. */
export function readManifest(dir: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(join(dir, manifestName), 'utf8')) as Manifest;
  } catch (error) {
    throw errors.not_a_backup({ dir, manifestName, cause: messageOf(error) }, { cause: error });
  }
  const names = Array.isArray(manifest?.files) ? manifest.files.map((file) => file?.name) : [];
  if (
    !names.includes(databaseName) ||
    !names.every(isKnownName) ||
    typeof manifest.tables !== 'object' ||
    manifest.tables === null
  ) {
    throw damaged(dir, `${manifestName} does not list the files of a backup`);
  }
  const { left_out: leftOut = [] } = manifest;
  if (!Array.isArray(leftOut) || !leftOut.every((part) => typeof part === 'string')) {
    throw damaged(dir, `${manifestName} does not list what was left out`);
  }
  return manifest;
}

/** Returns the parts of a backup by readable name, largest first. */
export function partsOf({
  files,
}: Manifest): readonly { readonly part: string; readonly files: number; readonly bytes: number }[] {
  const parts = new Map<string, { part: string; files: number; bytes: number }>();
  for (const { name, bytes } of files) {
    const part = parts.get(partOf(name)) ?? { part: partOf(name), files: 0, bytes: 0 };
    parts.set(part.part, { part: part.part, files: part.files + 1, bytes: part.bytes + bytes });
  }
  return [...parts.values()].toSorted((a, b) => b.bytes - a.bytes);
}

export async function fingerprint(file: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return { sha256: hash.digest('hex'), bytes: statSync(file).size };
}

export function damaged(dir: string, what: string): SvcError {
  return errors.damaged({ dir, what });
}
