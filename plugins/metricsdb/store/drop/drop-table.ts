import type { Catalogue } from 'svc/store';

import type { Selection } from '../columns/selection.ts';

/** A drop that was asked for, and how far it is. Times in milliseconds. */
export interface Drop {
  readonly id: number;
  readonly selection: Selection;
  /** Person who asked for it. */
  readonly asker: string;
  readonly asked: number;
  /** Series of the head that are gone. */
  readonly series: number;
  /** Newest block that may hold some of it; undefined while the head does. */
  readonly upto: number | undefined;
  /** Last block that was looked at. */
  readonly at: number;
  readonly blocks: number;
  readonly done: number;
  /** Blocks that are damaged, and were left as they are. */
  readonly damaged: number;
  /** Why the next block could not be rewritten yet. */
  readonly error: string | undefined;
  readonly ended: number | undefined;
}

interface Row {
  readonly id: number;
  readonly selection: string;
  readonly asker: string;
  readonly asked: number;
  readonly series: number;
  readonly upto: number | null;
  readonly at: number;
  readonly blocks: number;
  readonly done: number;
  readonly damaged: number;
  readonly error: string | null;
  readonly ended: number | null;
}

/** Drops that ended and are still listed. */
const maxEnded = 50;

/** Drops in the catalogue, so that a crash interrupts none for good. */
export class DropTable {
  readonly #db: Catalogue['db'];

  /** Its table is not one of the versions of the schema: an older svc opens the catalogue with it. */
  constructor(db: Catalogue['db']) {
    this.#db = db;
    db.exec(
      'create table if not exists drops (id integer primary key autoincrement, selection text not null, asker text not null, asked real not null, series integer not null default 0, upto integer, at integer not null default 0, blocks integer not null default 0, done integer not null default 0, damaged integer not null default 0, error text, ended real) strict',
    );
  }

  add(selection: Selection, asker: string, asked: number): Drop {
    const row = this.#db
      .prepare<[string, string, number], Row>(
        'insert into drops (selection, asker, asked) values (?, ?, ?) returning *',
      )
      .get(JSON.stringify(selection), asker, asked);
    return dropOf(row!);
  }

  save({ id, series, upto, at, blocks, done, damaged, error, ended }: Drop): void {
    this.#db
      .prepare(
        'update drops set series = @series, upto = @upto, at = @at, blocks = @blocks, done = @done, damaged = @damaged, error = @error, ended = @ended where id = @id',
      )
      .run({
        id,
        series,
        at,
        blocks,
        done,
        damaged,
        upto: upto ?? null,
        error: error ?? null,
        ended: ended ?? null,
      });
    this.#db
      .prepare(
        'delete from drops where ended is not null and id <= (select max(id) from drops) - ?',
      )
      .run(maxEnded);
  }

  remove(id: number): void {
    this.#db.prepare('delete from drops where id = ?').run(id);
  }

  /** All drops, oldest first. */
  list(): readonly Drop[] {
    return this.#db.prepare<[], Row>('select * from drops order by id').all().map(dropOf);
  }
}

const dropOf = ({ selection, upto, error, ended, ...rest }: Row): Drop => ({
  ...rest,
  selection: JSON.parse(selection) as Selection,
  upto: upto ?? undefined,
  error: error ?? undefined,
  ended: ended ?? undefined,
});
