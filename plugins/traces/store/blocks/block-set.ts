import { type Logger } from 'svc/sdk';
import {
  type BlockRow,
  type Catalogue,
  DamageTracker,
  type DamagedBlock,
  isDamagedBlock,
  type RetentionClock,
  type RetentionLimits,
  retain,
  type SectionCache,
  sectionCache,
  type Wal,
} from 'svc/store';

import type { SearchWindow } from '../../traceql/spans/source.ts';
import { hashOfTrace } from '../columns/bit-filter.ts';
import { type BlockParts, StoredBlock } from './block.ts';
import type { Group } from './group.ts';

const maxOpen = 64;
const cacheBytes = 32 * 1024 * 1024;
/** Groups whose columns stay decoded: a search asks for one trace of a group after the other. */
const maxGroups = 96;

/** All blocks of the store, in memory as far as looking them up needs it. */
export class BlockSet {
  readonly #catalogue: Catalogue;
  readonly damage: DamageTracker;
  readonly #blocks: StoredBlock[] = [];
  readonly #files = new OpenFiles();
  readonly #cache: SectionCache = sectionCache(cacheBytes);
  readonly #parts: BlockParts;
  /** Blocks removed while queries read them: their files stay until the last of these has ended. */
  readonly #retired = new Set<StoredBlock>();
  #readers = 0;
  /** Blocks of which nothing can be read. */
  readonly #unreadable = new Map<number, BlockRow>();

  constructor(catalogue: Catalogue, wal: Wal, log: Logger) {
    this.#catalogue = catalogue;
    this.damage = new DamageTracker(catalogue, wal, log);
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

  get residentBytes(): number {
    return this.#blocks.reduce((sum, block) => sum + block.residentBytes, this.#cache.bytes);
  }

  /** Adds a block whose row is in the catalogue. */
  add(row: StoredBlock['row']): void {
    this.#blocks.push(new StoredBlock(this.#catalogue.blocksFolder, row, this.#parts));
  }

  /** Runs a query; what turns out to be damaged is left out, and the query run again. */
  async read<T>(query: () => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      for (;;) {
        try {
          return await query();
        } catch (error) {
          if (!isDamagedBlock(error) || !this.#leaveOut(error)) {
            throw error;
          }
        }
      }
    } finally {
      this.#endReading();
    }
  }

  /**
   * Returns descriptions of what an answer about these times lacks, or, for one trace, what it may
   * lack.
   */
  missing({ startMs, endMs }: SearchWindow, trace?: Uint8Array): string[] {
    const touches = ({ mint, maxt }: BlockRow): boolean => maxt >= startMs && mint <= endMs;
    const hash = trace && hashOfTrace(trace);
    const partly = this.#blocks.filter(
      (block) =>
        touches(block.row) &&
        (hash === undefined || block.mayHaveTrace(hash)) &&
        block.misses(trace),
    );
    const unread = [...this.#unreadable.values()].filter(touches);
    return [
      ...this.damage.touching(startMs, endMs),
      ...[...partly.map(({ row }) => row), ...unread].map((row) => this.#sentenceOf(row)),
    ];
  }

  /** Checks damaged blocks again, so that restored files count; call periodically. */
  async lookAgain(now: number): Promise<void> {
    (await this.damage.lookAgain(now)).forEach((row) => this.#replace(row));
  }

  /** Files may have been changed from outside. */
  readAnew(): void {
    const rows = new Map(this.#catalogue.blocks.list().map((row) => [row.id, row]));
    for (const { id } of [...this.#blocks.map(({ row }) => row), ...this.#unreadable.values()]) {
      this.#replace(rows.get(id), id);
    }
  }

  #replace(row: BlockRow | undefined, id = row!.id): void {
    const at = this.#blocks.findIndex((block) => block.row.id === id);
    if (at >= 0) {
      this.#retire(this.#blocks.splice(at, 1)[0]!);
    }
    this.#unreadable.delete(id);
    if (row !== undefined) {
      this.#restore(row);
    }
  }

  /** Removes what is too old or too much. */
  retain(limits: RetentionLimits, clock: RetentionClock): void {
    const held = new Map(this.#blocks.map((block) => [block.row.id, block]));
    const removed = retain(this.#catalogue, limits, clock, (ids) => {
      if (this.#readers > 0) {
        ids.forEach((id) => held.get(id)?.hold());
      }
    });
    for (const { id } of removed) {
      this.#unreadable.delete(id);
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

  #restore(row: BlockRow): void {
    try {
      this.add(row);
    } catch (error) {
      this.#unreadable.set(row.id, row);
      this.damage.block(row, error);
    }
  }

  #leaveOut(error: DamagedBlock): boolean {
    const at = this.#blocks.findIndex((block) => block.path === error.damagedBlock);
    if (at < 0) {
      return false;
    }
    const block = this.#blocks[at]!;
    this.damage.block(block.row, error);
    if (error.section !== undefined) {
      return block.lose(error.section);
    }
    this.#blocks.splice(at, 1);
    this.#files.release(block);
    this.#unreadable.set(block.row.id, block.row);
    return true;
  }

  #sentenceOf(row: BlockRow): string {
    return `${row.file}: ${this.#catalogue.blocks.causeOf(row.id) ?? 'some of it cannot be read'}`;
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
      if (this.#open.size <= maxOpen) {
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
    if (this.#groups.size > maxGroups) {
      this.#groups.delete(this.#groups.keys().next().value!);
    }
    return known;
  }
}
