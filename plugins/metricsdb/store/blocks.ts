import { join } from 'node:path';

import { isSvcError, messageOf, type Logger } from 'svc/sdk';
import { sectionCache, type BlockRow, type Catalogue, type SectionCache } from 'svc/store';

import { BlockReader } from './block-reader.ts';
import { GroupCache } from './label-group.ts';

const mostOpen = 64;
const mostGroupBytes = 64 * 1_048_576;

/** The blocks of a store: which there are, and a bounded number of them open. A damaged one is set aside and told of. */
export class Blocks {
  readonly #catalogue: Catalogue;
  readonly #cache: SectionCache;
  readonly #groups = new GroupCache(mostGroupBytes);
  readonly #log: Logger;
  /** In the order of their use. */
  readonly #open = new Map<number, BlockReader>();
  /** Ids that a question works with; they are closed when nobody does any more. */
  readonly #users = new Map<number, number>();
  #rows: readonly BlockRow[];

  constructor(catalogue: Catalogue, options: { readonly cacheBytes: number; readonly log: Logger }) {
    this.#catalogue = catalogue;
    this.#cache = sectionCache(options.cacheBytes);
    this.#log = options.log;
    this.#rows = catalogue.blocks.list();
  }

  /** All blocks, damaged ones too, by time. */
  list(): readonly BlockRow[] {
    return this.#rows;
  }

  get cachedBytes(): number {
    return this.#cache.bytes;
  }

  /** To be called after each change of the catalogue. */
  refresh(): void {
    this.#rows = this.#catalogue.blocks.list();
    const there = new Set(this.#rows.map(({ id }) => id));
    for (const id of [...this.#open.keys()]) {
      if (!there.has(id) && !this.#users.has(id)) {
        this.#closeOne(id);
      }
    }
  }

  /** Whole blocks of a level with samples in (mint, maxt], kept readable until `done`, whatever happens to them meanwhile. */
  take(level: number, mint: number, maxt: number): { readonly rows: readonly BlockRow[]; done(): void } {
    return this.hold(this.#rows.filter((row) => row.level === level && row.damaged === 0 && row.mint <= maxt && row.maxt > mint));
  }

  /** Keeps these readable until `done`. */
  hold(rows: readonly BlockRow[]): { readonly rows: readonly BlockRow[]; done(): void } {
    for (const { id } of rows) {
      this.#users.set(id, (this.#users.get(id) ?? 0) + 1);
    }
    // Opened now: a file that is removed later stays readable through what is open.
    rows.forEach((row) => this.#reader(row));
    return {
      rows,
      done: () => {
        for (const { id } of rows) {
          const left = this.#users.get(id)! - 1;
          if (left > 0) {
            this.#users.set(id, left);
          } else {
            this.#users.delete(id);
            this.#open.get(id)?.forget();
          }
        }
        this.#trim();
      },
    };
  }

  /** What `work` reads from a block; none when the block turns out to be damaged. */
  from<R>(row: BlockRow, work: (reader: BlockReader) => R): R | undefined {
    const reader = this.#reader(row);
    if (reader === undefined) {
      return undefined;
    }
    try {
      return work(reader);
    } catch (error) {
      this.#setAside(row, error);
      return undefined;
    }
  }

  damage(): string[] {
    return this.#rows.filter(({ damaged }) => damaged === 1).map(({ file, cause }) => `block ${file}: ${cause ?? 'damaged'}`);
  }

  close(): void {
    for (const id of [...this.#open.keys()]) {
      this.#closeOne(id);
    }
  }

  #reader(row: BlockRow): BlockReader | undefined {
    const known = this.#open.get(row.id);
    if (known !== undefined) {
      this.#open.delete(row.id);
      this.#open.set(row.id, known);
      return known;
    }
    if (this.#rows.some(({ id, damaged }) => id === row.id && damaged === 1)) {
      return undefined;
    }
    try {
      const reader = new BlockReader(join(this.#catalogue.blocksFolder, row.file), this.#cache, this.#groups);
      this.#open.set(row.id, reader);
      return reader;
    } catch (error) {
      this.#setAside(row, error);
      return undefined;
    }
  }

  #setAside(row: BlockRow, error: unknown): void {
    // Not damaged, but of another version of svc.
    if (isSvcError(error) && error.code === 'unavailable') {
      throw error;
    }
    this.#catalogue.blocks.markDamaged(row.id, messageOf(error));
    this.#log.error(
      { event: 'metricsdb.block_damaged', file: row.file, cause: messageOf(error) },
      'metrics block is damaged and left out of answers; restore it from a backup or delete it',
    );
    this.#closeOne(row.id);
    this.refresh();
  }

  #trim(): void {
    const there = new Set(this.#rows.map(({ id }) => id));
    for (const id of [...this.#open.keys()]) {
      if (!this.#users.has(id) && (!there.has(id) || this.#open.size > mostOpen)) {
        this.#closeOne(id);
      }
    }
  }

  #closeOne(id: number): void {
    this.#open.get(id)?.close();
    this.#open.delete(id);
  }
}
