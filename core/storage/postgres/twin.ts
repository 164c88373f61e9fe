import { relationsText, type Relation, type Schema } from '../engine/engine.ts';
import type { SqlStatement } from '../engine/sql-text.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Outcome } from '../engine/engine.ts';
import { Texts, type Way } from './line.ts';
import { Translation } from './translation.ts';

interface TwinParts {
  readonly way: Way;
  /** An empty database of SQLite. */
  readonly connection: Connection;
  /** Reads what is Postgres's own. */
  readonly read: (text: string, values?: readonly unknown[]) => Promise<readonly unknown[]>;
}

/** Tables of svc in Postgres that no migration makes. */
export const ownTables = [
  'create table core_turn (one integer primary key check (one = 1), functions text not null) strict',
  'create table core_schema (seq integer primary key autoincrement, statement text not null) strict',
];

const keepStatement = 'insert into core_schema (statement) values (?)';

const isDefinition = ({ text }: Pick<SqlStatement, 'text'>): boolean =>
  /^(?:create|alter|drop)\b/i.test(text);

/**
 * An empty database of SQLite with the tables of one in Postgres, where their definitions are kept as they were written. It is
 * asked what SQLite alone knows: which tables a statement touches, and which columns a table has.
 */
export class Twin implements Schema {
  readonly connection: Connection;
  readonly texts: Texts;
  readonly #read: TwinParts['read'];
  readonly #translation: Translation;
  #last = 0;

  constructor({ way, connection, read }: TwinParts) {
    this.connection = connection;
    this.#read = read;
    ownTables.forEach((text) => connection.exec(text));
    this.#translation = new Translation(way.address.schema, connection);
    this.texts = new Texts(this.#translation, way);
  }

  /** The definitions of what no migration makes, in the words of Postgres. */
  get beginnings(): readonly string[] {
    return ownTables.map((text) => this.#translation.statement(text).text);
  }

  async carryOut(
    statements: readonly SqlStatement[],
    query: (sql: string, parameters?: readonly unknown[]) => Promise<Outcome>,
  ): Promise<readonly Relation[]> {
    const relations = this.#rehearse(statements);
    for (const statement of statements) {
      await query(statement.text);
      if (isDefinition(statement)) {
        await query(keepStatement, [statement.text]);
      }
    }
    return relations;
  }

  /** Each statement is translated while the tables are those that it will meet. */
  #rehearse(statements: readonly SqlStatement[]): readonly Relation[] {
    this.connection.exec('begin');
    try {
      for (const statement of statements) {
        if (isDefinition(statement)) {
          this.connection.exec(statement.text);
          this.#translation.tables.refresh();
        }
        this.texts.learn(statement.text);
      }
      return this.connection.prepare(relationsText).all() as Relation[];
    } finally {
      this.connection.exec('rollback');
      this.#translation.tables.refresh();
    }
  }

  async refresh(): Promise<void> {
    const { schema } = this.#translation;
    const rows = (await this.#read(
      `select seq, statement from ${schema}.core_schema where seq > $1 order by seq`,
      [this.#last],
    )) as { seq: number; statement: string }[];
    for (const { seq, statement } of rows) {
      this.connection.exec(statement);
      this.#last = seq;
    }
    this.#translation.tables.refresh();
    this.texts.forget();
    if (this.#translation.tables.has('core_migrations')) {
      await this.#copyMigrations();
    }
  }

  async #copyMigrations(): Promise<void> {
    const rows = (await this.#read(
      `select plugin, number, name, sha256, app_version, applied_at from ${this.#translation.schema}.core_migrations`,
    )) as object[];
    const insert = this.connection.prepare(
      'insert or replace into core_migrations values (@plugin, @number, @name, @sha256, @app_version, @applied_at)',
    );
    rows.forEach((row) => insert.run(row));
  }
}
