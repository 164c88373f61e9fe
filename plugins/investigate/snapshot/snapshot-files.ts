import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

import type { Snapshot } from 'svc/rca';

import { errors } from './errors.ts';

const packed = promisify(gzip);
const unpacked = promisify(gunzip);
const largestBytes = 256 * 1_024 * 1_024;

/**
 * Files with the knowledge of investigations: each complete or absent, so that another engine can
 * judge it again.
 */
export class SnapshotFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves with its size once it is on disk. */
  async keep(id: number, snapshot: Snapshot): Promise<number> {
    const bytes = await packed(JSON.stringify(snapshot));
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#fileOf(id);
    const handle = await open(`${file}.part`, 'w', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.part`, file);
    return bytes.length;
  }

  async read(id: number): Promise<Snapshot> {
    try {
      const text = await unpacked(await readFile(this.#fileOf(id)), {
        maxOutputLength: largestBytes,
      });
      return JSON.parse(text.toString()) as Snapshot;
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? errors.snapshot_gone({ id }, { cause: error })
        : errors.snapshot_damaged({ id, file: this.#fileOf(id) }, { cause: error });
    }
  }

  async remove(id: number): Promise<void> {
    await rm(this.#fileOf(id), { force: true });
    await rm(`${this.#fileOf(id)}.part`, { force: true });
  }

  #fileOf(id: number): string {
    return join(this.#folder, `${id}.json.gz`);
  }
}
