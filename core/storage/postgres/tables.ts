import type { Connection } from '../sqlite/connection.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

interface Table {
  readonly columns: readonly Column[];
  readonly sql: string;
}

/** The tables that statements may mean, as SQLite knows them. */
export class Tables {
  readonly #connection: Connection;
  #known: Map<string, Table> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  refresh(): void {
    this.#known = undefined;
  }

  has(name: string): boolean {
    return name === 'sqlite_schema' || this.#all().has(name);
  }

  /** Column of a table that numbers its rows by itself. */
  numbered(name: string): string | undefined {
    const table = this.#all().get(name);
    const key = table?.columns.filter(({ pk }) => pk > 0) ?? [];
    return key.length === 1 && key[0]!.type === 'INTEGER' && isNumbered(table!.sql)
      ? key[0]!.name
      : undefined;
  }

  /** Returns whether every column of this name, in the tables that are among `words`, holds a value in each row. */
  isNeverNull(column: string, words: readonly string[]): boolean {
    const found = words
      .flatMap((word) => this.#all().get(word)?.columns ?? [])
      .filter(({ name }) => name.toLowerCase() === column);
    return found.length > 0 && found.every(({ notnull, pk }) => notnull === 1 || pk > 0);
  }

  #all(): ReadonlyMap<string, Table> {
    return (this.#known ??= new Map(
      (
        this.#connection
          .prepare(
            "select name, coalesce(sql, '') as sql from sqlite_schema where type in ('table', 'view')",
          )
          .all() as { name: string; sql: string }[]
      ).map(({ name, sql }) => [
        name.toLowerCase(),
        {
          sql,
          columns: this.#connection
            .prepare('select * from pragma_table_xinfo(?)')
            .all(name) as Column[],
        },
      ]),
    ));
  }
}

/** A key that refers to another row, or can be one number only, is always given. */
export const isNumbered = (definition: string): boolean =>
  /\binteger\s+primary\s+key\b(?!\s+(?:check|references)\b)/i.test(definition);
