import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';

import { birthOf, ctimeOf, idOf, mtimeOf } from './place.ts';

/** Regular file at exactly this path. */
export interface OpenFile {
  readonly path: string;
  readonly file: FileHandle;
  readonly id: string;
  readonly size: number;
  readonly birth: number;
  readonly mtime: number;
  /** Time when it was last written to or renamed. */
  readonly ctime: number;
}

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file; undefined if it does not exist. The path is a real and permitted one: if a folder
 * in it has since become a link, the opened file has another path, and is closed unread.
 */
export async function openFile(path: string): Promise<OpenFile | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, flags);
  } catch (error) {
    if (
      ['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')
    ) {
      return undefined;
    }
    throw error;
  }
  try {
    const stats = await file.stat({ bigint: true });
    if (stats.isFile() && (await readlink(`/proc/self/fd/${file.fd}`)) === path) {
      return {
        path,
        file,
        id: idOf(stats),
        size: Number(stats.size),
        birth: birthOf(stats),
        mtime: mtimeOf(stats),
        ctime: ctimeOf(stats),
      };
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}
