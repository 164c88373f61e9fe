import { createHash } from 'node:crypto';
import { createReadStream, type Dirent, lstatSync, type Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { errors } from './errors.ts';
import { type FollowedFile, followedFolders, isFollowed, isOfOneNode } from './followed.ts';

/** Max number of files that all nodes have. */
export const mostFiles = 50_000;

interface Known {
  readonly mark: string;
  readonly sha256: string;
}

/** The files of a data folder that all nodes have. A file is read again only when it has changed. */
export class Listing {
  readonly #dataDir: string;
  #known: ReadonlyMap<string, Known> = new Map();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  async files(): Promise<readonly FollowedFile[]> {
    const files: FollowedFile[] = [];
    const known = new Map<string, Known>();
    for (const folder of followedFolders) {
      // A link in its place leads out of the data folder.
      if (!lstatSync(join(this.#dataDir, folder), { throwIfNoEntry: false })?.isDirectory()) {
        continue;
      }
      for await (const { path, stats } of this.#below(folder)) {
        const mark = [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
        const before = this.#known.get(path);
        const sha256 = before?.mark === mark ? before.sha256 : await this.#sum(path);
        if (sha256 !== undefined) {
          known.set(path, { mark, sha256 });
          files.push({ path, bytes: stats.size, sha256 });
        }
        if (files.length > mostFiles) {
          throw errors.too_many({ most: mostFiles });
        }
      }
    }
    this.#known = known;
    return files;
  }

  /** True for a file of the last listing. */
  has(path: string): boolean {
    return this.#known.has(path);
  }

  /** Files as they are now; one that goes away meanwhile is left out. Links lead elsewhere, and are not followed. */
  async *#below(folder: string): AsyncGenerator<{ path: string; stats: Stats }> {
    if (isOfOneNode(folder)) {
      return;
    }
    for (const entry of await this.#entries(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        yield* this.#below(path);
      } else if (entry.isFile() && isFollowed(path)) {
        const stats = await unlessGone(lstat(join(this.#dataDir, path)));
        if (stats?.isFile() === true) {
          yield { path, stats };
        }
      }
    }
  }

  async #entries(folder: string): Promise<readonly Dirent[]> {
    const found = await unlessGone(readdir(join(this.#dataDir, folder), { withFileTypes: true }));
    return (found ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #sum(path: string): Promise<string | undefined> {
    const hash = createHash('sha256');
    const read = pipeline(createReadStream(join(this.#dataDir, path)), hash).then(() => true);
    return (await unlessGone(read)) === true ? hash.digest('hex') : undefined;
  }
}

/** Undefined where the file has gone away meanwhile. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return undefined;
    }
    throw error;
  }
}
