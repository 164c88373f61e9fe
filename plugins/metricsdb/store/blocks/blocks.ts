import { join } from 'node:path';

import { isSvcError, type Logger } from 'svc/sdk';
import { type Budget } from 'svc/query';
import {
  DamageTracker,
  sectionCache,
  type BlockRow,
  type Catalogue,
  type SectionCache,
  type Wal,
} from 'svc/store';

import { rawLevel } from './block-layout.ts';
import { BlockReader, type Lost } from './block-reader.ts';
import { metaOf } from './block-meta.ts';
import { GroupCache } from './label-group.ts';

const maxOpen = 64;
const maxGroupBytes = 64 * 1_048_576;

/**
 * Blocks of a store: which exist, and a bounded number of open ones. Each answer that lacks
 * unreadable data says so.
 */
export class Blocks {
  readonly damage: DamageTracker;
  readonly #catalogue: Catalogue;
  readonly #cache: SectionCache;
  readonly #groups = new GroupCache(maxGroupBytes);
  /** Open blocks, least recently used first. */
  readonly #open = new Map<number, BlockReader>();
  /** Ids that a question works with; they are closed when nobody does any more. */
  readonly #users = new Map<number, number>();
  #rows: readonly BlockRow[];

  constructor(
    catalogue: Catalogue,
    wal: Wal,
    options: { readonly cacheBytes: number; readonly log: Logger },
  ) {
    this.#catalogue = catalogue;
    this.#cache = sectionCache(options.cacheBytes);
    this.damage = new DamageTracker(catalogue, wal, options.log);
    this.#rows = catalogue.blocks.list();
  }

  /** All blocks, damaged ones too, by time. */
  list(): readonly BlockRow[] {
    return this.#rows;
  }

  get cachedBytes(): number {
    return this.#cache.bytes;
  }

  /** Reloads the list; call after each change of the catalogue. */
  refresh(): void {
    this.#rows = this.#catalogue.blocks.list();
    const there = new Set(this.#rows.map(({ id }) => id));
    for (const id of [...this.#open.keys()]) {
      if (!there.has(id) && !this.#users.has(id)) {
        this.#closeOne(id);
      }
    }
  }

  /** Blocks of all samples that have some in (mint, maxt]. */
  within(mint: number, maxt: number): readonly BlockRow[] {
    return this.#rows.filter(
      (row) => row.level === rawLevel && row.mint <= maxt && row.maxt > mint,
    );
  }

  /** Keeps these readable until `done`. */
  hold(rows: readonly BlockRow[]): { readonly rows: readonly BlockRow[]; done(): void } {
    for (const { id } of rows) {
      this.#users.set(id, (this.#users.get(id) ?? 0) + 1);
    }
    // Opened now: a file that is removed later stays readable through what is open.
    for (const row of rows) {
      this.#attempt(row, () => undefined);
      this.#used(row.id);
    }
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

  /**
   * Runs `work` on a block, except for sections that it reports as `lost`; the answer says what is
   * missing. Undefined if nothing can be read.
   */
  from<R>(
    row: BlockRow,
    cost: Pick<Budget, 'warn'>,
    work: (reader: BlockReader, lost: Lost) => R,
  ): R | undefined {
    const lost: Lost = (error) => cost.warn(this.#noted(row, error));
    return this.#attempt(row, (reader) => work(reader, lost), lost);
  }

  /** Runs `work` on a block that must be complete; undefined if anything is missing. */
  whole<R>(row: BlockRow, work: (reader: BlockReader, lost: Lost) => R): R | undefined {
    const lost: Lost = (error) => {
      throw error;
    };
    return this.#attempt(
      row,
      (reader) => work(reader, lost),
      (error) => void this.#noted(row, error),
    );
  }

  /** Files may have been changed from outside: what no question uses is opened again when it is needed. */
  readAnew(): void {
    [...this.#open.keys()].filter((id) => !this.#users.has(id)).forEach((id) => this.#closeOne(id));
    this.refresh();
  }

  /**
   * Checks damaged blocks again, so that restored files count, and drops thinned ones that are still
   * damaged or stand alone: they are made again. Call periodically.
   */
  async lookAgain(now: number): Promise<void> {
    for (const { id } of await this.damage.lookAgain(now)) {
      this.#closeOne(id);
    }
    const rows = this.#catalogue.blocks.list();
    const wholes = new Set(
      rows.flatMap(({ id, file, level }) => (level === rawLevel ? [id, file] : [])),
    );
    const useless = rows.filter(
      (row) => row.level !== rawLevel && (row.damaged === 1 || !wholes.has(metaOf(row).of!)),
    );
    this.#catalogue.blocks.remove(useless.map(({ id }) => id));
    this.refresh();
  }

  close(): void {
    for (const id of [...this.#open.keys()]) {
      this.#closeOne(id);
    }
  }

  #attempt<R>(
    row: BlockRow,
    work: (reader: BlockReader) => R,
    failed: Lost = (error) => void this.#noted(row, error),
  ): R | undefined {
    try {
      return work(this.#reader(row));
    } catch (error) {
      // Not damaged, but of another version of svc.
      if (isSvcError(error) && error.code === 'unavailable') {
        throw error;
      }
      failed(error);
      return undefined;
    }
  }

  #reader(row: BlockRow): BlockReader {
    const known = this.#open.get(row.id);
    if (known !== undefined) {
      return known;
    }
    const reader = new BlockReader(
      join(this.#catalogue.blocksFolder, row.file),
      this.#cache,
      this.#groups,
    );
    this.#open.set(row.id, reader);
    return reader;
  }

  /** Makes an open block the one that is closed last. */
  #used(id: number): void {
    const reader = this.#open.get(id);
    if (reader !== undefined) {
      this.#open.delete(id);
      this.#open.set(id, reader);
    }
  }

  #noted(row: BlockRow, error: unknown): string {
    const sentence = this.damage.block(row, error);
    if (this.#rows.some(({ id, damaged }) => id === row.id && damaged === 0)) {
      this.refresh();
    }
    return sentence;
  }

  #trim(): void {
    const there = new Set(this.#rows.map(({ id }) => id));
    for (const id of [...this.#open.keys()]) {
      if (!this.#users.has(id) && (!there.has(id) || this.#open.size > maxOpen)) {
        this.#closeOne(id);
      }
    }
  }

  #closeOne(id: number): void {
    this.#open.get(id)?.close();
    this.#open.delete(id);
  }
}
