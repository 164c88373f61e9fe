import Database from 'better-sqlite3';
import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import { checkMigration, checkStatement, type Statement, statementOf } from './statement.ts';

export interface TablesData {
  readonly file: string;
  readonly maxMb: number;
  /** Migrations in the order in which they run. */
  readonly migrations: readonly { readonly name: string; readonly sql: string }[];
}

const pageBytes = 4_096;
const maxRows = 10_000;
/** Max size of an answer, whatever its rows are. */
const maxAnswerBytes = 4 * 1024 * 1024;

/** The tables of one pack: a database file that nothing else is in, in a process that nothing else runs in. */
export class PackTables {
  readonly #database: Database.Database;

  constructor({ file, maxMb, migrations }: TablesData) {
    this.#database = new Database(file);
    this.#database.pragma('journal_mode = WAL');
    this.#database.pragma('synchronous = FULL');
    this.#database.pragma('trusted_schema = OFF');
    // Otherwise the sorting of a statement could fill the disk, beyond the granted space.
    this.#database.pragma('temp_store = MEMORY');
    this.#database.pragma(`max_page_count = ${Math.floor((maxMb * 1024 * 1024) / pageBytes)}`);
    this.#migrate(migrations);
  }

  all(input: unknown): readonly unknown[] {
    const { sql, values } = statementOf(input);
    const rows: unknown[] = [];
    let bytes = 0;
    for (const row of this.#prepared(sql).iterate(...values)) {
      rows.push(row);
      bytes += sizeOf(row as object);
      if (bytes > maxAnswerBytes) {
        throw errors.rows_too_large({ maxAnswerBytes: maxAnswerBytes / 1024 / 1024 });
      }
      if (rows.length > maxRows) {
        throw errors.too_many_rows({ maxRows });
      }
    }
    return rows;
  }

  run(input: unknown): { readonly changes: number; readonly lastId: number } {
    return this.#run(statementOf(input));
  }

  batch(input: unknown): void {
    const statements = (Array.isArray(input) ? input : []).map(statementOf);
    this.#database.transaction(() => statements.forEach((statement) => this.#run(statement)))();
  }

  close(): void {
    this.#database.close();
  }

  #run({ sql, values }: Statement): { readonly changes: number; readonly lastId: number } {
    const { changes, lastInsertRowid } = this.#guarded(() => this.#prepared(sql).run(...values));
    return { changes, lastId: Number(lastInsertRowid) };
  }

  #prepared(sql: string): Database.Statement {
    checkStatement(sql);
    return this.#guarded(() => this.#database.prepare(sql));
  }

  #guarded<R>(work: () => R): R {
    try {
      return work();
    } catch (error) {
      throw errors.statement_failed({ cause: messageOf(error) }, { cause: error });
    }
  }

  /** Each once, in a transaction of its own; one that has run is never changed. */
  #migrate(migrations: TablesData['migrations']): void {
    this.#database.exec(
      'CREATE TABLE IF NOT EXISTS svc_migrations (name TEXT PRIMARY KEY, sql TEXT NOT NULL) STRICT',
    );
    const done = new Map(
      (
        this.#database.prepare('SELECT name, sql FROM svc_migrations').raw().all() as [
          string,
          string,
        ][]
      ).map(([name, sql]) => [name, sql]),
    );
    for (const { name, sql } of migrations) {
      if (done.has(name)) {
        if (done.get(name) !== sql) {
          throw errors.migration_changed({ name });
        }
        continue;
      }
      checkMigration(name, sql);
      this.#database.transaction(() => {
        this.#database.exec(sql);
        this.#database
          .prepare('INSERT INTO svc_migrations (name, sql) VALUES (?, ?)')
          .run(name, sql);
      })();
    }
  }
}

const sizeOf = (row: object): number =>
  Object.values(row).reduce<number>(
    (sum, value) =>
      sum +
      (typeof value === 'string'
        ? value.length
        : value instanceof Uint8Array
          ? value.length * 1.4
          : 8),
    0,
  );
