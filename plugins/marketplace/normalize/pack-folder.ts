import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import type { PackFiles } from '../archive/entry-list.ts';
import { readFolder } from '../archive/read-folder.ts';

export interface NormalizedFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** A second copy of a folder, on the disk before this returns. */
export function copyFolder({ from, to }: { readonly from: string; readonly to: string }): string {
  const files = ownFolder(from);
  writeAll(files, to);
  return hashOf(listOf(files));
}

export const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true });

/** Returns a folder that svc has written itself: copies of its data folder may share its files. */
export const ownFolder = (folder: string): PackFiles =>
  readFolder({ root: realpathSync(folder), path: '', isForeign: false });

export const listOf = (files: PackFiles): readonly NormalizedFile[] =>
  [...files]
    .map(([path, bytes]) => ({
      path,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));

export const hashOf = (files: readonly NormalizedFile[]): string =>
  createHash('sha256')
    .update(JSON.stringify(files.map(({ path, sha256 }) => [path, sha256])))
    .digest('hex');

/** Writes files to a new folder, creating each one; everything is on disk when this returns. */
export function writeAll(files: PackFiles, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  mkdirSync(folder, { mode: 0o700 });
  const folders = new Set([folder]);
  for (const [name, bytes] of files) {
    const file = join(folder, name);
    if (!folders.has(dirname(file))) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      folders.add(dirname(file));
    }
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o600, flush: true });
  }
  folders.forEach(syncFolder);
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
