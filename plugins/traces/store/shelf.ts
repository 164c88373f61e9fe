import { type Catalogue, isDamagedBlock, type RetentionLimits, retain, type SectionCache, sectionCache } from 'svc/store';
import { type Logger, messageOf } from 'svc/sdk';

import { StoredBlock } from './block.ts';
import type { Group } from './group.ts';

const mostOpen = 64;
const cacheBytes = 32 * 1024 * 1024;
/** Groups whose columns stay decoded: a search asks for one trace of a group after the other. */
const mostGroups = 96;

/** All blocks of the store, in memory as far as looking them up needs it. */
export interface Shelf {
  readonly blocks: readonly StoredBlock[];
  /** Puts a block on the shelf whose row is in the catalogue. */
  add(block: StoredBlock): void;
  load(row: StoredBlock['row']): StoredBlock;
  /** Runs a question; a block that turns out to be damaged is taken out, and the question asked again. */
  read<T>(question: () => Promise<T>): Promise<T>;
  retain(limits: RetentionLimits, now: number): number;
  readonly damaged: number;
  readonly residentBytes: number;
  close(): void;
}

export function openShelf(catalogue: Catalogue, log: Logger): Shelf {
  const cache: SectionCache = sectionCache(cacheBytes);
  const blocks: StoredBlock[] = [];
  /** In the order of their opening. */
  const open = new Set<StoredBlock>();
  /** Taken away while somebody reads: their files live on until nobody does. */
  const retired = new Set<StoredBlock>();
  let readers = 0;
  let damaged = 0;

  function opened(block: StoredBlock): void {
    open.delete(block);
    open.add(block);
    for (const other of open) {
      if (open.size <= mostOpen) {
        return;
      }
      if (other !== block && !retired.has(other)) {
        open.delete(other);
        other.release();
      }
    }
  }

  /** In the order of their use. */
  const groups = new Map<string, Group>();

  function groupAt(key: string, make: () => Group): Group {
    const known = groups.get(key) ?? make();
    groups.delete(key);
    groups.set(key, known);
    if (groups.size > mostGroups) {
      groups.delete(groups.keys().next().value!);
    }
    return known;
  }

  function isolate(path: string, cause: string): boolean {
    const at = blocks.findIndex((block) => block.path === path);
    if (at < 0) {
      return false;
    }
    const [block] = blocks.splice(at, 1);
    damaged++;
    open.delete(block!);
    block!.release();
    catalogue.blocks.markDamaged(block!.row.id, cause);
    log.error({ block: path, cause }, 'a block of traces is damaged: what it holds is left out from now on');
    return true;
  }

  function endReading(): void {
    readers--;
    if (readers === 0) {
      retired.forEach((block) => {
        open.delete(block);
        block.release();
      });
      retired.clear();
    }
  }

  const load = (row: StoredBlock['row']): StoredBlock => new StoredBlock(catalogue.blocksFolder, row, { cache, opened, groupAt });

  for (const row of catalogue.blocks.list()) {
    if (row.damaged === 1) {
      damaged++;
      continue;
    }
    try {
      blocks.push(load(row));
    } catch (error) {
      damaged++;
      catalogue.blocks.markDamaged(row.id, messageOf(error));
      log.error({ block: row.file, cause: messageOf(error) }, 'a block of traces is damaged: what it holds is left out');
    }
  }

  return {
    blocks,
    load,
    add: (block) => void blocks.push(block),
    async read(question) {
      readers++;
      try {
        for (;;) {
          try {
            return await question();
          } catch (error) {
            if (!isDamagedBlock(error) || !isolate(error.damagedBlock, error.message)) {
              throw error;
            }
          }
        }
      } finally {
        endReading();
      }
    },
    retain(limits, now) {
      const held = new Map(blocks.map((block) => [block.row.id, block]));
      const removed = retain(catalogue, limits, now, (ids) => {
        if (readers > 0) {
          ids.forEach((id) => held.get(id)?.hold());
        }
      });
      for (const { id } of removed) {
        const block = held.get(id);
        if (block !== undefined) {
          blocks.splice(blocks.indexOf(block), 1);
          if (readers > 0) {
            retired.add(block);
          } else {
            open.delete(block);
            block.release();
          }
        }
      }
      return removed.length;
    },
    get damaged() {
      return damaged;
    },
    get residentBytes() {
      return blocks.reduce((sum, block) => sum + block.residentBytes, cache.bytes);
    },
    close() {
      [...open, ...retired].forEach((block) => block.release());
      open.clear();
    },
  };
}
