import { lstatSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { type BackedUpFile, fingerprint, readManifest } from './manifest.ts';
import { holdFile } from './snapshot.ts';

/** Earlier backup, whose unchanged files a new one hard-links, so that they take no space. */
export class Base {
  readonly #dir: string;
  readonly #files: ReadonlyMap<string, BackedUpFile>;
  readonly #taken = new Map<string, Pick<BackedUpFile, 'sha256' | 'bytes'>>();
  readonly #damaged = new Set<string>();

  constructor(dir: string) {
    this.#dir = dir;
    this.#files = new Map(readManifest(dir).files.map((file) => [file.name, file]));
  }

  /** Files found missing or corrupt, as far as they were needed. */
  get damaged(): readonly string[] {
    return [...this.#damaged];
  }

  /** Returns the fingerprint of a file that was taken, so that it is read once only. */
  fingerprintOf(name: string): Pick<BackedUpFile, 'sha256' | 'bytes'> | undefined {
    return this.#taken.get(name);
  }

  /** Puts its own file in the place of a copy of the live one; false where that one has changed, or its own has. */
  async take(name: string, live: string, copy: string): Promise<boolean> {
    this.#taken.delete(name);
    const { size, mtimeMs } = statSync(live);
    const own = this.#files.get(name);
    if (own?.bytes !== size || own.modified_ms !== Math.round(mtimeMs)) {
      return false;
    }
    const file = join(this.#dir, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true || !holdFile(file, copy)) {
      this.#damaged.add(name);
      return false;
    }
    // Size and time do not change when a disk loses bits: only the sum shows that this is still
    // what was backed up.
    const found = await fingerprint(copy).catch(() => undefined);
    if (found?.sha256 !== own.sha256) {
      rmSync(copy);
      this.#damaged.add(name);
      return false;
    }
    this.#taken.set(name, found);
    return true;
  }
}
