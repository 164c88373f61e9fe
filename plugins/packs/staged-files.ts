import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import type { PackFiles } from 'svc/sdk';

import { errors } from './errors.ts';

const maxBytes = 64 * 1024 * 1024;

/**
 * The copy of a pack's folder that its process reads. The permission model follows links, and a folder may change while a pack
 * runs: here there are plain files only, as they were when it came up. `inUse` names copies that others still read.
 */
export function stageFiles(
  id: string,
  files: PackFiles,
  cacheDir: string,
  inUse: (folder: string) => boolean,
): string {
  const contents = new Map(files.files().map((name) => [name, files.read(name)!] as const));
  const bytes = [...contents.values()].reduce((sum, content) => sum + content.length, 0);
  if (bytes > maxBytes) {
    throw errors.files_too_large({ id, maxBytes: maxBytes / 1024 / 1024 });
  }
  const home = join(cacheDir, 'packs', id);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const real = realpathSync(home);
  readdirSync(real)
    .map((name) => join(real, name))
    .filter((folder) => !inUse(folder))
    .forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  const folder = join(real, nameOf(contents));
  if (!existsSync(folder)) {
    for (const [name, content] of contents) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content, { flag: 'wx' });
    }
    // Explicitly, since the umask of svc's process removes the access of others.
    for (const entry of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
      chmodSync(join(folder, entry), lstatSync(join(folder, entry)).isDirectory() ? 0o755 : 0o444);
    }
  }
  return folder;
}

function nameOf(contents: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha256');
  for (const [name, content] of contents) {
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}
