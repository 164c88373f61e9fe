import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

import { Listing, unlessGone } from './listing.ts';

export const listPath = '/files';
/** Returns what to ask for one file. */
export const filePath = (path: string): string => `/file?path=${encodeURIComponent(path)}`;

/** Answers of an owner to a node that follows: the list of files, or one of them; undefined if there is no such thing. */
export class FileOffer {
  readonly #dataDir: string;
  readonly #listing: Listing;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#listing = new Listing(dataDir);
  }

  async answer(target: string): Promise<string | Readable | undefined> {
    const { pathname, searchParams } = new URL(target, 'http://owner');
    if (pathname === listPath) {
      return JSON.stringify({ files: await this.#listing.files() });
    }
    const path = searchParams.get('path') ?? '';
    if (pathname !== '/file' || !this.#listing.has(path)) {
      return undefined;
    }
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
    return (await unlessGone(open(join(this.#dataDir, path), flags)))?.createReadStream();
  }
}
