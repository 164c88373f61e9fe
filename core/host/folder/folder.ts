import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { errors } from './errors.ts';

/** Files of a plugin: a folder on disk, or texts inside the single binary. */
export interface PluginFolder {
  readonly id: string;
  /** Folder name or `embedded:<id>`; printed in causes and stacks. */
  readonly path: string;
  /** Plugins that ship with the product; others are what an operator put into the data folder. */
  readonly origin: 'shipped' | 'data';
  /** Undefined when there is no such file. */
  read(name: string): Buffer | undefined;
  /** Every file, as paths relative to the folder with `/`. */
  files(): readonly string[];
}

const maxFiles = 2_000;
const maxFileBytes = 16 * 1024 * 1024;

/** A folder on disk; refuses links and everything that is not a plain file inside it. */
export function folderOnDisk(
  id: string,
  path: string,
  origin: PluginFolder['origin'],
): PluginFolder {
  const root = (): string => realpathSync(path);
  return {
    id,
    path,
    origin,
    read(name) {
      const file = join(root(), name);
      if (!file.startsWith(root() + sep)) {
        throw errors.file_outside({ plugin: id, file: name });
      }
      const stat = lstatSync(file, { throwIfNoEntry: false });
      if (!stat) {
        return undefined;
      }
      // A stranger's file with a hard link may be one of ours.
      if (!stat.isFile() || realpathSync(file) !== file || (origin === 'data' && stat.nlink > 1)) {
        throw errors.file_not_plain({ plugin: id, file: name });
      }
      if (stat.size > maxFileBytes) {
        throw errors.file_too_large({ plugin: id, file: name, mib: maxFileBytes / 1024 / 1024 });
      }
      return readFileSync(file);
    },
    files: () => walk(id, root(), ''),
  };
}

/** The embedded form: a map from relative path to content. */
export function folderInMemory(
  id: string,
  contents: Pick<ReadonlyMap<string, Buffer>, 'get' | 'keys'>,
): PluginFolder {
  return {
    id,
    path: `embedded:${id}`,
    origin: 'shipped',
    read: (name) => contents.get(name),
    files: () => [...contents.keys()].sort(),
  };
}

/** Part of a path that is no part of a plugin. */
const isPassedOver = (part: string): boolean => part === 'node_modules' || part.startsWith('.');

/** Returns whether a path is among the files of a plugin. */
export const isPluginFile = (path: string): boolean => !path.split('/').some(isPassedOver);

function walk(id: string, root: string, inside: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(root, inside), { withFileTypes: true })) {
    const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (isPassedOver(entry.name)) {
      continue;
    }
    if (entry.isSymbolicLink()) {
      throw errors.file_linked({ plugin: id, file: name });
    }
    found.push(...(entry.isDirectory() ? walk(id, root, name) : [name]));
    if (found.length > maxFiles) {
      throw errors.too_many_files({ plugin: id, max: maxFiles });
    }
  }
  return found.sort();
}
