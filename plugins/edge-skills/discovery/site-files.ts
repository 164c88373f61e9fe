import { isSvcError, messageOf } from 'svc/sdk';
import { matchesPath, type MachineFiles, parseGlob } from 'svc/probe';

import type { AllowedPaths } from '../reach/allowed-paths.ts';

const [maxFiles, maxBytes] = [300, 256 * 1024];

/** Files that the configuration of a web server consists of; each is read once, and not too many. */
export class SiteFiles {
  readonly #paths: AllowedPaths;
  readonly #files: MachineFiles;
  readonly #read = new Set<string>();
  readonly #notes: string[] = [];

  constructor(parts: { readonly paths: AllowedPaths; readonly files: MachineFiles }) {
    this.#paths = parts.paths;
    this.#files = parts.files;
  }

  /** Why files were left out. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  readonly read = async (path: string): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (const file of this.#expanded(path)) {
      if (!this.#read.has(file) && this.#read.size < maxFiles) {
        this.#read.add(file);
        texts.push(...(await this.#textOf(file)));
      }
    }
    return texts;
  };

  #expanded(path: string): readonly string[] {
    const cut = path.lastIndexOf('/') + 1;
    const [folder, last] = [path.slice(0, cut), path.slice(cut)];
    if (!/[*?[]/.test(last) || /[*?[]/.test(folder) || !this.#paths.allows(`${folder}x`)) {
      return [path];
    }
    const globs = parseGlob(path);
    return (this.#files.names(folder) ?? [])
      .filter((name) => !name.startsWith('.'))
      .map((name) => folder + name)
      .filter((file) => globs.some((glob) => matchesPath(glob, file)))
      .toSorted();
  }

  async #textOf(file: string): Promise<readonly string[]> {
    try {
      return await this.#paths.withFile(file, async (handle) =>
        this.#paths.patiently(file, async () => {
          const bytes = Buffer.alloc(maxBytes);
          const { bytesRead } = await handle.read(bytes, 0, maxBytes, 0);
          return [bytes.toString('utf8', 0, bytesRead)];
        }),
      );
    } catch (error) {
      // No such server, or no such file any more: that is no reason to say anything.
      if (!(isSvcError(error) && error.code === 'not_found')) {
        this.#notes.push(messageOf(error));
      }
      return [];
    }
  }
}
