import { type Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { folders, type Glob } from 'svc/probe';

import type { Named } from './tail.ts';

const maxEntries = 100_000;
const deepest = 12;
const compressed = /\.(?:gz|bz2|xz|zst|lz4|lzo|br|zip|7z|Z)$/;

export const isCompressed = (path: string): boolean => compressed.test(path);

/** Walks the folders that globs name; what is no folder or hidden from a wildcard is passed over. */
export class FileSearch {
  readonly #signal: AbortSignal;
  readonly #found = new Set<string>();
  /** Files and folders that the user of this agent may not look into. */
  readonly closed = new Map<string, Error>();
  #left = maxEntries;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** True if there was more to examine than one search may. */
  get exhausted(): boolean {
    return this.#left <= 0;
  }

  /** The regular files, each once over all calls. */
  async find(glob: Glob): Promise<Named[]> {
    const paths = new Set<string>();
    await this.#walk('/', glob, deepest, paths);
    const fresh: Named[] = [];
    for (const found of paths) {
      const real = isCompressed(found) ? undefined : await this.#regularFile(found);
      if (real !== undefined && !isCompressed(real) && !this.#found.has(real)) {
        this.#found.add(real);
        fresh.push({ path: real, found });
      }
    }
    return fresh;
  }

  async #walk(folder: string, glob: Glob, depth: number, paths: Set<string>): Promise<void> {
    const [piece, ...rest] = glob;
    if (piece === undefined || depth === 0) {
      return;
    }
    if (piece === folders) {
      await this.#walk(folder, rest, depth, paths);
      for (const entry of await this.#entries(folder)) {
        if (entry.isDirectory() && !entry.name.startsWith('.')) {
          await this.#walk(join(folder, entry.name), glob, depth - 1, paths);
        }
      }
      return;
    }
    const names =
      piece.literal === undefined ? await this.#matching(folder, piece.matches) : [piece.literal];
    for (const name of names) {
      if (rest.length === 0) {
        paths.add(join(folder, name));
      } else {
        await this.#walk(join(folder, name), rest, depth - 1, paths);
      }
    }
  }

  async #matching(folder: string, matches: (name: string) => boolean): Promise<string[]> {
    return (await this.#entries(folder))
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('.') && matches(name));
  }

  async #entries(folder: string): Promise<readonly Dirent[]> {
    const entries: Dirent[] = [];
    try {
      for await (const entry of await opendir(folder)) {
        if (this.#left-- <= 0 || this.#signal.aborted) {
          break;
        }
        entries.push(entry);
      }
    } catch (error) {
      // Gone, or no folder: it holds nothing for us.
      this.#note(folder, error as NodeJS.ErrnoException);
    }
    return entries;
  }

  async #regularFile(path: string): Promise<string | undefined> {
    try {
      const real = await realpath(path);
      return (await stat(real)).isFile() ? real : undefined;
    } catch (error) {
      // Gone since it was listed, or a link that leads nowhere.
      this.#note(path, error as NodeJS.ErrnoException);
      return undefined;
    }
  }

  #note(path: string, error: NodeJS.ErrnoException): void {
    if (error.code === 'EACCES' || error.code === 'EPERM') {
      this.closed.set(path, error);
    }
  }
}
