import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { messageOf } from '../../core/sdk/index.ts';
import { cacheFolders, ownFolder } from './cache-folder.mjs';
import { carried } from './carried.ts';
import { type Contents, contentsAsset, fileAsset } from './contents.ts';
import { errors } from './errors.ts';

let root: string | undefined;

/** The folder with those parts of the binary that must be files; made on first use, checked at every start. */
export function unpackedRoot(): string {
  root ??= unpack(contents().files);
  return root;
}

export const contents = (): Contents => JSON.parse(carried().text(contentsAsset)) as Contents;

/** Into the first cache that takes it; the folder is named after its content, so versions do not meet. */
function unpack(files: Contents['files']): string {
  const name = sha256(JSON.stringify(files)).slice(0, 16);
  const complaints: string[] = [];
  for (const cache of cacheFolders()) {
    const folder = join(cache, name);
    try {
      ownFolder(cache);
      for (const [file, hash] of Object.entries(files)) {
        ownFolder(dirname(join(folder, file)));
        place(file, join(folder, file), hash);
      }
      return folder;
    } catch (error) {
      complaints.push(messageOf(error));
    }
  }
  throw errors.no_folder({ complaints: complaints.join('; ') });
}

/** Whole or not at all: a second start may look at the same moment, and a kill may come at any. */
function place(name: string, file: string, hash: string): void {
  if (holds(file, hash)) {
    return;
  }
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, carried().bytes(fileAsset(name)), { flag: 'wx', mode: 0o500 });
    chmodSync(draft, 0o500);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function holds(file: string, hash: string): boolean {
  try {
    return lstatSync(file).isFile() && sha256(readFileSync(file)) === hash;
  } catch {
    // Absent or unreadable: placing it tells what is wrong, if anything.
    return false;
  }
}

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');
