import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync, realpathSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Ids } from 'svc/sdk';

import { limits, refused, shown } from './entry-list.ts';

/** Longer than any request that brings a pack. */
const abandonedMs = 60 * 60_000;

/**
 * Folder for archives on their way in. Each is written and hashed piece by piece, so that none is
 * held in memory; the thread that unpacks it reads the file.
 */
export class Arrivals {
  readonly #folder: string;
  readonly #ids: Pick<Ids, 'token'>;

  constructor(folder: string, ids: Pick<Ids, 'token'>) {
    this.#folder = folder;
    this.#ids = ids;
  }

  /** Writes what `bring` sends, and returns the file; nothing is left if it fails. */
  async take(bring: (write: (piece: Uint8Array) => Promise<void>) => Promise<void>): Promise<{
    readonly file: string;
    readonly sha256: string;
  }> {
    const file = join(this.#folder, `${this.#ids.token(9)}.archive`);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const arrival = new Arrival(await open(file, 'wx', 0o600));
    try {
      await bring((piece) => arrival.write(piece));
      return { file, sha256: arrival.sha256() };
    } catch (error) {
      await this.discard(file);
      throw error;
    } finally {
      await arrival.close();
    }
  }

  /** Copies an archive next to the local index of a registry; no other location is read. */
  copy(source: string, registry: string): ReturnType<Arrivals['take']> {
    const real = existsSync(source) ? realpathSync(source) : source;
    if (
      !real.startsWith(`${realpathSync(registry)}/`) ||
      !lstatSync(real, { throwIfNoEntry: false })?.isFile()
    ) {
      throw refused(`${shown(source)} is not a file below the folder of its registry`);
    }
    return this.take(async (write) => {
      for await (const piece of createReadStream(real) as AsyncIterable<Buffer>) {
        await write(piece);
      }
    });
  }

  async discard(file: string): Promise<void> {
    await rm(file, { force: true });
  }

  /** Deletes what a kill has left; what is younger may be in use by a generation that is about to end. */
  async tidy(now: number): Promise<void> {
    const names = existsSync(this.#folder) ? await readdir(this.#folder) : [];
    for (const file of names.map((name) => join(this.#folder, name))) {
      const found = lstatSync(file, { throwIfNoEntry: false });
      if (found !== undefined && found.mtimeMs < now - abandonedMs) {
        await this.discard(file);
      }
    }
  }
}

/** Archive in a file that came with a request, which may be the form around it. */
export interface Uploaded {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly sha256: string;
  /** Other fields of the form. */
  readonly fields: Readonly<Record<string, string>>;
}

class Arrival {
  readonly #handle: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #size = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#size += piece.length;
    if (this.#size > limits.packedBytes) {
      throw refused(`the archive is larger than ${limits.packedBytes / 1024 / 1024} MiB`);
    }
    this.#hash.update(piece);
    await this.#handle.writeFile(piece);
  }

  sha256(): string {
    return this.#hash.digest('hex');
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
