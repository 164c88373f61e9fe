import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import {
  type Connection,
  connect,
  connectWriter,
} from '../../../core/storage/sqlite/connection.ts';
import { movedMark } from '../../../core/storage/file.ts';
import { forgetCleanStop, syncPath, writeDurably } from '../../../core/storage/index.ts';
import { bound, cellOf, keyOf, putQuery, quoted, rangeQuery } from './rows.ts';
import type { Table } from './shape.ts';
import type { Range, Row, Side, Source, Target } from './side.ts';

/** A file of SQLite. */
class File implements Side {
  readonly place: string;
  readonly connection: Connection;

  constructor(file: string, connection: Connection) {
    this.place = file;
    this.connection = connection;
  }

  async definitions(): Promise<readonly string[]> {
    return this.connection
      .prepare(
        `select sql from sqlite_schema where sql is not null and name not like 'sqlite_%'
         order by case type when 'table' then 0 when 'view' then 1 when 'index' then 2 else 3 end, rowid`,
      )
      .pluck()
      .all() as string[];
  }

  async rows(table: Table, range: Range): Promise<readonly Row[]> {
    const { text, cells, types } = rangeQuery(table, quoted(table.name), range, () => '?');
    const rows = this.connection
      .prepare(text)
      .safeIntegers(true)
      .raw(true)
      .all(cells.map((cell, at) => bound(cell, types[at]!))) as unknown[][];
    return rows.map((row) => row.map(cellOf));
  }

  async lastNumber(table: Table): Promise<bigint> {
    const found = table.isNumbered
      ? this.connection.prepare('select seq from sqlite_sequence where name = ?')
      : this.connection.prepare(
          `select max(${keyOf(table)}) from ${quoted(table.name)} where ? <> ''`,
        );
    const last = found.safeIntegers(true).pluck().get(table.name) as bigint | null | undefined;
    return last ?? 0n;
  }
}

/** The file of a data folder as of one moment; svc may go on writing. */
export class FileSource extends File implements Source {
  constructor(file: string, nativeBinding: string | undefined) {
    super(file, connect(file, { nativeBinding, mustExist: true }));
    this.connection.exec('begin');
  }

  /** The file stays, as the way back to what it held; svc does not start with it any more. */
  async retire(to: string): Promise<void> {
    writeDurably(movedMark(this.place), `${to}\n`);
  }

  async close(): Promise<void> {
    this.connection.close();
  }
}

/** A file that gets its name when it is complete. */
export class FileTarget extends File implements Target {
  readonly #final: string;
  readonly #aside: string | undefined;

  /** A file that has the name already is kept in the folder `aside`. */
  constructor(final: string, nativeBinding: string | undefined, aside?: string) {
    const draft = join(dirname(final), `.${basename(final)}.moving`);
    super(final, connectWriter(draft, { nativeBinding }));
    this.connection.pragma('foreign_keys = ON');
    this.connection.pragma('synchronous = NORMAL');
    this.#final = final;
    this.#aside = aside;
  }

  async make(tables: readonly Table[], definitions: readonly string[]): Promise<void> {
    this.connection.pragma('foreign_keys = OFF');
    this.connection.transaction(() => {
      for (const { type, name } of this.connection
        .prepare(
          "select type, name from sqlite_schema where type in ('trigger', 'view', 'table') and name not like 'sqlite_%'",
        )
        .all() as { type: string; name: string }[]) {
        this.connection.exec(`drop ${type} if exists ${quoted(name)}`);
      }
      [...tables.map(({ definition }) => definition), ...definitions].forEach((text) =>
        this.connection.exec(text),
      );
    })();
    this.connection.pragma('foreign_keys = ON');
  }

  async put(table: Table, rows: readonly Row[]): Promise<void> {
    const marks = `(${table.columns.map(() => '?').join(', ')})`;
    const put = this.connection.prepare(putQuery(table, quoted(table.name), marks));
    this.connection.transaction(() =>
      rows.forEach((row) => put.run(row.map((cell, at) => bound(cell, table.columns[at]!.type)))),
    )();
  }

  async remove(table: Table, keys: readonly Row[]): Promise<void> {
    const types = table.key.map((at) => table.columns[at]!.type);
    const remove = this.connection.prepare(
      `delete from ${quoted(table.name)} where (${keyOf(table)}) = (${types.map(() => '?').join(', ')})`,
    );
    this.connection.transaction(() =>
      keys.forEach((key) => remove.run(key.map((cell, at) => bound(cell, types[at]!)))),
    )();
  }

  async setNumber({ name, isNumbered }: Table, last: bigint): Promise<void> {
    if (!isNumbered) {
      return;
    }
    this.connection.prepare('delete from sqlite_sequence where name = ?').run(name);
    this.connection
      .prepare('insert into sqlite_sequence (name, seq) values (?, ?)')
      .run(name, last);
  }

  async complete(triggers: readonly string[]): Promise<void> {
    this.connection.transaction(() => triggers.forEach((text) => this.connection.exec(text)))();
    this.connection.pragma('wal_checkpoint(TRUNCATE)');
    const draft = this.connection.name;
    this.connection.close();
    syncPath(draft);
    const folder = dirname(this.#final);
    if (this.#aside !== undefined && existsSync(this.#final)) {
      mkdirSync(this.#aside, { mode: 0o700 });
      ['', '-wal', '-shm', '.moved']
        .filter((suffix) => existsSync(this.#final + suffix))
        .forEach((suffix) =>
          renameSync(this.#final + suffix, join(this.#aside!, basename(this.#final) + suffix)),
        );
      // What the last stop noted is true of the file that has gone.
      forgetCleanStop(folder);
    }
    ['-wal', '-shm'].forEach((suffix) => rmSync(draft + suffix, { force: true }));
    renameSync(draft, this.#final);
    syncPath(folder);
  }

  async close(): Promise<void> {
    this.connection.close();
  }
}
