import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Product } from '../../../core/boot/index.ts';
import { timestamp } from '../../../core/sdk/index.ts';
import type { Safeguard } from '../../../core/storage/index.ts';
import { createBackup } from './backup.ts';

const kept = 3;

/** One backup a start, before the first migration of data that was there; the last few are kept. */
export class AutomaticBackups implements Safeguard {
  readonly #dataDir: string;
  readonly #product: Product;
  readonly #databaseUrl: string | undefined;
  readonly #folder: string;
  #made: Promise<void> | undefined;

  constructor(dataDir: string, product: Product, databaseUrl?: string) {
    this.#dataDir = dataDir;
    this.#product = product;
    this.#databaseUrl = databaseUrl;
    this.#folder = join(dataDir, 'backups');
  }

  async beforeMigration(): Promise<void> {
    this.#made ??= this.#make();
    try {
      await this.#made;
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }

  wayBack(): string | undefined {
    const newest = this.#all().at(-1);
    return newest === undefined
      ? undefined
      : `restore the backup ${newest} with "svc backup restore"`;
  }

  async #make(): Promise<void> {
    const at = timestamp(Date.now()).replaceAll(':', '');
    await createBackup(join(this.#folder, `${at}-before-${this.#product.version}`), {
      dataDir: this.#dataDir,
      product: this.#product,
      databaseUrl: this.#databaseUrl,
    });
    this.#all()
      .slice(0, -kept)
      .forEach((old) => rmSync(old, { recursive: true }));
  }

  /** Oldest first. */
  #all(): readonly string[] {
    const names = existsSync(this.#folder) ? readdirSync(this.#folder) : [];
    return names
      .filter((name) => /^\d{4}-.*-before-/.test(name))
      .toSorted()
      .map((name) => join(this.#folder, name));
  }
}
