import { messageOf } from 'svc/sdk';
import type { BlockRow, Wal } from 'svc/store';

import { rawLevel } from '../blocks/block-layout.ts';
import { matchersOf, type Selection } from '../columns/selection.ts';
import { type Head } from '../head/head.ts';
import { dropRecord } from '../intake/drop-record.ts';
import { type Exemplars } from '../select/exemplars.ts';
import { type Drop, DropTable } from './drop-table.ts';
import { rewriteWithout, type RewriteParts } from './rewrite.ts';

export interface DropParts extends RewriteParts {
  readonly head: Head;
  readonly wal: Wal;
  readonly exemplars: Exemplars;
  readonly now: () => number;
}

/** Selection that was dropped, and the ids of blocks that a replay wrote before it read that. */
export interface SpilledDrop {
  readonly selection: Selection;
  readonly from: number;
  readonly upto: number;
}

/**
 * Deletes samples on request: at once from the head, where they count against the limits, and then
 * from one block after the other. What was begun is completed after a crash.
 */
export class Drops {
  readonly #parts: DropParts;
  readonly #table: DropTable;

  constructor(parts: DropParts) {
    this.#parts = parts;
    this.#table = new DropTable(parts.catalogue.db);
  }

  /** All drops that are listed, oldest first. */
  list(): readonly Drop[] {
    return this.#table.list();
  }

  get pending(): boolean {
    return this.#next() !== undefined;
  }

  /**
   * Drops what the head has of a selection. Nothing may be pushed or cut meanwhile: what comes
   * later stays.
   */
  async begin(selection: Selection, asker: string): Promise<Drop> {
    const drop = this.#table.add(selection, asker, this.#parts.now());
    try {
      return await this.#fromHead(drop);
    } catch (error) {
      this.#table.remove(drop.id);
      throw error;
    }
  }

  /** Completes drops that a crash interrupted before the head was without them. */
  async resume(): Promise<void> {
    for (const drop of this.#table.list().filter(({ upto }) => upto === undefined)) {
      await this.#fromHead(drop);
    }
  }

  /** Drops a selection once more, from the blocks that a replay wrote. */
  again({ selection, from, upto }: SpilledDrop): void {
    if (upto > from) {
      const drop = this.#table.add(selection, 'svc', this.#parts.now());
      this.#table.save({ ...drop, at: from, upto });
    }
  }

  /** Rewrites the next block of the oldest drop. */
  async step(): Promise<void> {
    const drop = this.#next();
    if (drop === undefined) {
      return;
    }
    const row = this.#blocks(drop)[0];
    if (row === undefined) {
      this.#table.save({ ...drop, ended: this.#parts.now() });
      return;
    }
    const seen = { ...drop, at: row.id, done: drop.done + 1, error: undefined };
    try {
      const isRead = await rewriteWithout(this.#parts, row, drop.selection, () =>
        this.#table.save(seen),
      );
      if (!isRead) {
        this.#table.save({ ...seen, damaged: seen.damaged + 1 });
      }
    } catch (error) {
      this.#table.save({ ...drop, error: messageOf(error) });
      throw error;
    }
  }

  async #fromHead(drop: Drop): Promise<Drop> {
    const { head, wal, exemplars, blocks } = this.#parts;
    const { selection } = drop;
    await wal.append(dropRecord(selection));
    const series = head.drop(matchersOf(selection), selection).size;
    exemplars.drop(matchersOf(selection), selection);
    const upto = Math.max(0, ...blocks.list().map(({ id }) => id));
    const begun = { ...drop, series, upto };
    const next = { ...begun, blocks: this.#blocks(begun).length };
    this.#table.save(next);
    return next;
  }

  #next(): Drop | undefined {
    return this.#table.list().find(({ upto, ended }) => upto !== undefined && ended === undefined);
  }

  /** Blocks that a drop has not looked at yet. */
  #blocks({ at, upto = 0, selection: { mint, maxt } }: Drop): readonly BlockRow[] {
    return this.#parts.blocks
      .list()
      .filter(
        (row) =>
          row.level === rawLevel &&
          row.id > at &&
          row.id <= upto &&
          row.mint <= maxt &&
          row.maxt >= mint,
      )
      .toSorted((a, b) => a.id - b.id);
  }
}
