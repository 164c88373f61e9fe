import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readSync,
  realpathSync,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';

import { EntryList, limits, type PackFiles, refused, shown } from './entry-list.ts';
import { errors } from './errors.ts';

export interface FolderPlace {
  /** Real path, without links; messages do not reveal it. */
  readonly root: string;
  /** Path of the pack within it; empty for all of it. */
  readonly path: string;
  /** True for a folder that svc does not own: no file in it may have a hard link elsewhere. */
  readonly isForeign: boolean;
}

/** File systems of the kernel, whose files have no end or do something when they are read: /proc, /sys. */
const kernelsOwn: readonly number[] = [0x9fa0, 0x62656572];

/** The files of a folder on this machine under the same limits as those of an archive; links are refused, also on the way to it. */
export function readFolder({ root, path, isForeign }: FolderPlace): PackFiles {
  const place = join(root, path);
  if (
    !lstatSync(place, { throwIfNoEntry: false })?.isDirectory() ||
    realpathSync(place) !== place
  ) {
    throw refused(
      `${path === '' ? 'the folder' : shown(path)} is not a folder on the machine of svc, or a link leads to it; name the folder itself`,
    );
  }
  if (kernelsOwn.includes(statfsSync(place).type)) {
    throw refused('the folder belongs to the kernel; name the folder of a pack');
  }
  const walk = new FolderWalk(isForeign, lstatSync(place).dev);
  try {
    return walk.read(place);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw code === undefined || syscall === undefined
      ? error
      : refused(
          `the folder cannot be read completely (${syscall}: ${code}); svc needs permission to read all of it`,
        );
  }
}

class FolderWalk {
  readonly #list = new EntryList(limits.packedBytes);
  readonly #isForeign: boolean;
  readonly #device: number;
  /** Number of names within the folder, of files with hard links. */
  readonly #names = new Map<
    string,
    { readonly first: string; readonly all: number; here: number }
  >();

  constructor(isForeign: boolean, device: number) {
    this.#isForeign = isForeign;
    this.#device = device;
  }

  read(root: string): PackFiles {
    this.#folder(root, '');
    const outside = [...this.#names.values()].find(({ all, here }) => here < all);
    if (outside !== undefined) {
      throw refused(
        `${shown(outside.first)} is a hard link with another name outside the folder; replace it with a copy`,
      );
    }
    return this.#list.end();
  }

  #folder(at: string, inside: string): void {
    const folder = openSync(at, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      // By its descriptor: replacing a folder by a link meanwhile does not change what is read.
      const here = process.platform === 'linux' ? `/proc/self/fd/${folder}` : at;
      if (fstatSync(folder).dev !== this.#device) {
        throw refused(`${shown(inside)} lies on another file system; a pack is one folder`);
      }
      if (inside.split('/').length > limits.depth) {
        throw refused(`${shown(inside)} lies more than ${limits.depth} folders deep`);
      }
      for (const entry of entriesOf(here)) {
        const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
        // Of the author's workshop, and no part of the pack.
        if (
          entry.name === 'node_modules' ||
          entry.name === '.git' ||
          (inside === '' && /^(?:dist|test)$/.test(entry.name))
        ) {
          continue;
        }
        if (entry.isDirectory()) {
          this.#list.reserve(name, 0);
          this.#folder(join(here, entry.name), name);
        } else if (entry.isFile()) {
          this.#file(join(here, entry.name), name);
        } else {
          throw refused(`${shown(name)} is a link or a device; a pack is made of plain files only`);
        }
      }
    } finally {
      closeSync(folder);
    }
  }

  #file(at: string, name: string): void {
    const file = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) {
        throw refused(`${shown(name)} is a link or a device; a pack is made of plain files only`);
      }
      if (this.#isForeign && stat.nlink > 1) {
        const known = this.#names.get(`${stat.dev}:${stat.ino}`) ?? {
          first: name,
          all: stat.nlink,
          here: 0,
        };
        known.here += 1;
        this.#names.set(`${stat.dev}:${stat.ino}`, known);
      }
      this.#list.reserve(name, stat.size);
      const bytes = Buffer.alloc(stat.size + 1);
      let filled = 0;
      for (let read = -1; read !== 0 && filled < bytes.length; filled += read) {
        read = readSync(file, bytes, filled, bytes.length - filled, null);
      }
      if (filled !== stat.size) {
        throw refused(`${shown(name)} changed while it was read; send it again`);
      }
      this.#list.addFile(name, bytes.subarray(0, stat.size));
    } finally {
      closeSync(file);
    }
  }
}

/** One after the other: a folder may have millions. */
function* entriesOf(folder: string): Generator<Dirent> {
  const opened = opendirSync(folder);
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      yield entry;
    }
  } finally {
    opened.closeSync();
  }
}

/** Returns the real path of a folder, for later; throws if it is none. */
export function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    throw errors.no_folder({ folder: shown(folder), cause: messageOf(error).split(':', 1)[0]! });
  }
}
