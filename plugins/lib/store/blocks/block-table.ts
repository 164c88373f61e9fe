import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type Database from 'better-sqlite3';

import { aboutSuffix } from './block-name.ts';

export interface BlockRow {
  readonly id: number;
  /** Name within the folder of the blocks. */
  readonly file: string;
  /** Kind of the block, such as 0 for raw data and others for rollups. */
  readonly level: number;
  /** Times in milliseconds, both inclusive. */
  readonly mint: number;
  readonly maxt: number;
  readonly bytes: number;
  readonly rows: number;
  readonly damaged: 0 | 1;
  /** JSON of the store's own; of a damaged block it is kept, and the cause is in `cause`. */
  readonly meta: string;
  readonly cause: string | null;
}

export type NewBlock = Omit<BlockRow, 'id' | 'damaged' | 'cause' | 'meta'> & {
  readonly meta?: string;
};

export interface BlockTable {
  /**
   * Adds a row, and in the same transaction does what `also` does. If that fails, the file goes:
   * its content is written again.
   */
  add(row: NewBlock, also?: (row: BlockRow) => void): BlockRow;
  /** The same for a block that was there before: its file stays in any case. */
  enter(row: NewBlock, also?: (row: BlockRow) => void): BlockRow;
  /** Takes rows away in one transaction with what `also` does, and then deletes their files. */
  remove(ids: readonly number[], also?: () => void): readonly BlockRow[];
  /** Several in, several out, in one transaction: what compaction does. */
  replace(
    ids: readonly number[],
    rows: readonly NewBlock[],
    also?: (added: readonly BlockRow[]) => void,
  ): readonly BlockRow[];
  /** Lists blocks by time; those that overlap the range, both ends inclusive. */
  list(range?: {
    readonly mint: number;
    readonly maxt: number;
    readonly level?: number;
  }): readonly BlockRow[];
  /** Marks a block as damaged; returns whether it was not marked yet. */
  markDamaged(id: number, cause: string): boolean;
  /** Replaces the cause of a damaged block. */
  setCause(id: number, cause: string): void;
  markSound(id: number): void;
  causeOf(id: number): string | undefined;
  /** Sum of the bytes of all blocks. */
  bytes(): number;
}

export const blockTableSql = `
  create table blocks (
    id integer primary key autoincrement,
    file text not null unique,
    level integer not null,
    mint integer not null,
    maxt integer not null,
    bytes integer not null,
    rows integer not null,
    damaged integer not null default 0,
    meta text not null default '{}',
    cause text
  ) strict;
  create index blocks_time on blocks (maxt, mint);
`;

export function blockTable(db: Database.Database, folder: string): BlockTable {
  const insert = db.prepare<NewBlock, BlockRow>(
    'insert into blocks (file, level, mint, maxt, bytes, rows, meta) values (@file, @level, @mint, @maxt, @bytes, @rows, @meta) returning *',
  );
  const erase = db.prepare<[number], BlockRow>('delete from blocks where id = ? returning *');
  const all = db.prepare<[], BlockRow>('select * from blocks order by mint, id');
  const within = db.prepare<{ mint: number; maxt: number; level: number | null }, BlockRow>(
    'select * from blocks where maxt >= @mint and mint <= @maxt and (@level is null or level = @level) order by mint, id',
  );
  const damage = db.prepare<[string, number]>(
    'update blocks set damaged = 1, cause = ? where id = ? and damaged = 0',
  );
  const describe = db.prepare<[string, number]>(
    'update blocks set cause = ? where id = ? and damaged = 1',
  );
  const sound = db.prepare<[number]>('update blocks set damaged = 0, cause = null where id = ?');
  const cause = db
    .prepare<[number], string | null>('select cause from blocks where id = ?')
    .pluck();
  const sum = db.prepare<[], number>('select coalesce(sum(bytes), 0) from blocks').pluck();

  const put = (row: NewBlock): BlockRow => insert.get({ ...row, meta: row.meta ?? '{}' })!;
  const take = (ids: readonly number[]): BlockRow[] => ids.flatMap((id) => erase.get(id) ?? []);

  /** Deletes files. Only after the commit: a row that comes back after a crash has its file. */
  function unlink(rows: readonly Pick<BlockRow, 'file'>[]): void {
    for (const { file } of rows) {
      rmSync(join(folder, file), { force: true });
      rmSync(join(folder, `${file}${aboutSuffix}`), { force: true });
    }
  }

  /** Nobody enters a block whose row was refused: a start would take it for a finished one. */
  function orUnlinked<T>(rows: readonly NewBlock[], work: () => T): T {
    try {
      return work();
    } catch (error) {
      unlink(rows);
      throw error;
    }
  }

  const enter: BlockTable['enter'] = (row, also) =>
    db
      .transaction(() => {
        const added = put(row);
        also?.(added);
        return added;
      })
      .immediate();

  return {
    add: (row, also) => orUnlinked([row], () => enter(row, also)),
    enter,
    remove(ids, also) {
      const removed = db
        .transaction(() => {
          const rows = take(ids);
          also?.();
          return rows;
        })
        .immediate();
      unlink(removed);
      return removed;
    },
    replace(ids, rows, also) {
      const { removed, added } = orUnlinked(rows, () =>
        db
          .transaction(() => {
            const gone = take(ids);
            const come = rows.map(put);
            also?.(come);
            return { removed: gone, added: come };
          })
          .immediate(),
      );
      unlink(removed);
      return added;
    },
    list: (range) =>
      range === undefined
        ? all.all()
        : within.all({ mint: range.mint, maxt: range.maxt, level: range.level ?? null }),
    markDamaged: (id, cause) => damage.run(cause, id).changes > 0,
    causeOf: (id) => cause.get(id) ?? undefined,
    setCause: (id, cause) => void describe.run(cause, id),
    markSound: (id) => void sound.run(id),
    bytes: () => sum.get()!,
  };
}
