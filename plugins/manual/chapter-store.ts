import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { PluginDirectory } from 'svc/sdk';

import { chapters } from './chapters.ts';

/** Plugin that carries the manual in the single binary. */
const carrier = 'shipped-files';
const picture = /^[a-z0-9-]{1,60}\.png$/;

/** Texts and pictures of the manual: from the folder of the product, or those that the single binary carries. */
export class ChapterStore {
  readonly #root: string;
  readonly #plugins: PluginDirectory;

  constructor(root: string, plugins: PluginDirectory) {
    this.#root = root;
    this.#plugins = plugins;
  }

  /** The markdown of a chapter; undefined where there is no such chapter, or no such file. */
  async text(name: string): Promise<string | undefined> {
    const file = chapters.find((chapter) => chapter.name === name)?.file;
    const bytes = file === undefined ? undefined : await this.#read(file);
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  async picture(name: string): Promise<Uint8Array | undefined> {
    return picture.test(name) ? await this.#read(`docs/pictures/${name}`) : undefined;
  }

  async #read(file: string): Promise<Uint8Array | undefined> {
    if (this.#plugins.list().some(({ id }) => id === carrier)) {
      return this.#plugins.read(carrier, file);
    }
    return await readFile(join(this.#root, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') {
        return undefined;
      }
      throw error;
    });
  }
}
