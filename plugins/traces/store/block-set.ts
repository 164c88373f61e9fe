import { type Logger, messageOf } from 'svc/sdk';
import { type Catalogue, isDamagedBlock, type RetentionLimits, retain, type SectionCache, sectionCache } from 'svc/store';

import { type BlockParts, StoredBlock } from './block.ts';
import type { Group } from './group.ts';

const mostOpen = 64;
const cacheBytes = 32 * 1024 * 1024;
/** Groups whose columns stay decoded: a search asks for one trace of a group after the other. */
const mostGroups = 96;

/** All blocks of the store, in memory as far as looking them up needs it. */
export class BlockSet {
  readonly #catalogue: Catalogue;
  readonly #log: Logger;
  readonly #blocks: StoredBlock[] = [];
  readonly #files = new OpenFiles();
  readonly #cache: SectionCache = sectionCache(cacheBytes);
  readonly #parts: BlockParts;
  /** Taken away while queries read them: their files live on until the last of these has ended. */
  readonly #retired = new Set<StoredBlock>();
  #readers = 0;
  #damaged = 0;

  constructor(catalogue: Catalogue, log: Logger) {
    this.#catalogue = catalogue;
    this.#log = log;
    const groups = new RecentGroups();
    this.#parts = {
      cache: this.#cache,
      opened: (block) => this.#files.opened(block, this.#retired),
      groupAt: (key, make) => groups.at(key, make),
    };
    catalogue.blocks.list().forEach((row) => this.#restore(row));
  }

  get blocks(): readonly StoredBlock[] {
    return this.#blocks;
  }

  get damaged(): number {
    return this.#damaged;
  }

  get residentBytes(): number {
    return this.#blocks.reduce((sum, block) => sum + block.residentBytes, this.#cache.bytes);
  }

  /** Adds a block whose row is in the catalogue. */
  add(row: StoredBlock['row']): void {
    this.#blocks.push(new StoredBlock(this.#catalogue.blocksFolder, row, this.#parts));
  }

  /** Runs a query; a block that turns out to be damaged is taken out, and the query run again. */
  async read<T>(query: () => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      for (;;) {
        try {
          return await query();
        } catch (error) {
          if (!isDamagedBlock(error) || !this.#isolate(error.damagedBlock, error.message)) {
            throw error;
          }
        }
      }
    } finally {
      this.#endReading();
    }
  }

  /** Removes what is too old or too much. */
  retain(limits: RetentionLimits, now: number): void {
    const held = new Map(this.#blocks.map((block) => [block.row.id, block]));
    const removed = retain(this.#catalogue, limits, now, (ids) => {
      if (this.#readers > 0) {
        ids.forEach((id) => held.get(id)?.hold());
      }
    });
    for (const { id } of removed) {
      const block = held.get(id);
      if (block !== undefined) {
        this.#blocks.splice(this.#blocks.indexOf(block), 1);
        this.#retire(block);
      }
    }
  }

  close(): void {
    this.#retired.forEach((block) => block.release());
    this.#files.close();
  }

  #restore(row: StoredBlock['row']): void {
    if (row.damaged === 1) {
      this.#damaged++;
      return;
    }
    try {
      this.add(row);
    } catch (error) {
      this.#reportDamage(row, messageOf(error));
    }
  }

  #isolate(path: string, cause: string): boolean {
    const at = this.#blocks.findIndex((block) => block.path === path);
    if (at < 0) {
      return false;
    }
    const [block] = this.#blocks.splice(at, 1);
    this.#files.release(block!);
    this.#reportDamage(block!.row, cause);
    return true;
  }

  #reportDamage({ id, file }: StoredBlock['row'], cause: string): void {
    this.#damaged++;
    this.#catalogue.blocks.markDamaged(id, cause);
    this.#log.error(
      { event: 'traces.block_damaged', block: file, cause },
      'trace block is damaged and left out of queries; restore it from a backup or delete it',
    );
  }

  #retire(block: StoredBlock): void {
    if (this.#readers > 0) {
      this.#retired.add(block);
    } else {
      this.#files.release(block);
    }
  }

  #endReading(): void {
    this.#readers--;
    if (this.#readers === 0) {
      this.#retired.forEach((block) => this.#files.release(block));
      this.#retired.clear();
    }
  }
}

/** Blocks whose files are open, in the order of their last opening. */
class OpenFiles {
  readonly #open = new Set<StoredBlock>();

  /** Closes what was opened longest ago, but no file of a block that is kept for its readers. */
  opened(block: StoredBlock, kept: ReadonlySet<StoredBlock>): void {
    this.#open.delete(block);
    this.#open.add(block);
    for (const other of this.#open) {
      if (this.#open.size <= mostOpen) {
        return;
      }
      if (other !== block && !kept.has(other)) {
        this.release(other);
      }
    }
  }

  release(block: StoredBlock): void {
    this.#open.delete(block);
    block.release();
  }

  close(): void {
    this.#open.forEach((block) => this.release(block));
  }
}

/** Decoded groups, in the order of their use. */
class RecentGroups {
  readonly #groups = new Map<string, Group>();

  at(key: string, make: () => Group): Group {
    const known = this.#groups.get(key) ?? make();
    this.#groups.delete(key);
    this.#groups.set(key, known);
    if (this.#groups.size > mostGroups) {
      this.#groups.delete(this.#groups.keys().next().value!);
    }
    return known;
  }
}
