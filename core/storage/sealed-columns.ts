import { type SealedTable, type Secrets, type Tables } from '../sdk/index.ts';
import type { Connection } from './sqlite/connection.ts';
import type { CoreTables } from './core-tables.ts';
import { errors } from './errors.ts';
import type { Ownership } from './ownership.ts';

/** One column that may hold sealed values. */
export interface SealedColumn {
  readonly plugin: string;
  readonly table: string;
  readonly column: string;
  /** The columns whose values, joined by `|`, are the row of the place. */
  readonly row: readonly string[];
}

/**
 * Columns in which every plugin that ever served here seals secrets, whether it still does or not.
 */
export class SealedColumns {
  readonly #core: Tables<CoreTables>;
  readonly #connection: Connection;
  readonly #ownership: Ownership;

  constructor(core: Tables<CoreTables>, connection: Connection, ownership: Ownership) {
    this.#core = core;
    this.#connection = connection;
    this.#ownership = ownership;
  }

  async declare(plugin: string, tables: readonly SealedTable[]): Promise<void> {
    tables.forEach((declared) => assertSound(plugin, declared, this.#connection, this.#ownership));
    const wanted = tables.flatMap(({ table, row, columns }) =>
      columns.map((column) => ({
        plugin,
        table_name: table,
        column_name: column,
        row_columns: row,
      })),
    );
    const known = await this.#core.read
      .selectFrom('core_sealed_columns')
      .selectAll()
      .where('plugin', '=', plugin)
      .execute();
    const fresh = wanted.filter(
      (one) =>
        !known.some(
          (other) =>
            other.table_name === one.table_name &&
            other.column_name === one.column_name &&
            other.row_columns === one.row_columns,
        ),
    );
    if (fresh.length > 0) {
      await this.#core.write((tx) =>
        tx
          .insertInto('core_sealed_columns')
          .values(fresh)
          .onConflict((conflict) =>
            conflict
              .columns(['plugin', 'table_name', 'column_name'])
              .doUpdateSet((row) => ({ row_columns: row.ref('excluded.row_columns') })),
          )
          .execute(),
      );
    }
  }

  async all(): Promise<readonly SealedColumn[]> {
    const rows = await this.#core.read
      .selectFrom('core_sealed_columns')
      .selectAll()
      .orderBy('plugin')
      .orderBy('table_name')
      .orderBy('column_name')
      .execute();
    return rows.map(({ plugin, table_name: table, column_name: column, row_columns: row }) => ({
      plugin,
      table,
      column,
      row: row.split('|'),
    }));
  }
}

/** Lets a plugin seal into the columns that it has declared, and nowhere else: a value that no rotation finds would be lost with its key. */
export function onlyDeclared(
  secrets: Secrets,
  plugin: string,
  declared: readonly SealedTable[],
): Secrets {
  return {
    seal(place, plain) {
      if (
        !declared.some(
          ({ table, columns }) => table === place.table && columns.includes(place.column),
        )
      ) {
        throw errors.seal_undeclared({ plugin, table: place.table, column: place.column });
      }
      return secrets.seal(place, plain);
    },
    open: (place, sealed) => secrets.open(place, sealed),
  };
}

/**
 * Throws for a wrong declaration when the plugin starts, not when its secrets are to be sealed
 * again.
 */
function assertSound(
  plugin: string,
  { table, row, columns }: SealedTable,
  connection: Connection,
  ownership: Ownership,
): void {
  const refuse = (why: string): never => {
    throw errors.sealed_declaration({ plugin, problem: why });
  };
  if (!ownership.isOwn(plugin, table)) {
    refuse(`the table ${table}, which is not its own`);
  }
  const present = connection.prepare('select name, pk from pragma_table_info(?)').all(table) as {
    name: string;
    pk: number;
  }[];
  const naming = row.split('|');
  const missing = [...naming, ...columns].find(
    (column) => !present.some(({ name }) => name === column),
  );
  if (missing !== undefined) {
    refuse(
      present.length === 0
        ? `the table ${table}, which its migrations do not create`
        : `${table}.${missing}, which its migrations do not create`,
    );
  }
  const primary = present.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const indexes = connection
    .prepare(
      `select group_concat(info.name, '|') as columns from pragma_index_list(?) as list, pragma_index_info(list.name) as info
       where list."unique" and not list.partial group by list.name`,
    )
    .pluck()
    .all(table) as (string | null)[];
  if (
    ![primary, ...indexes.map((index) => (index ?? '').split('|'))].some((unique) =>
      sameNames(unique, naming),
    )
  ) {
    refuse(
      `${row} of ${table} as its row, which is neither the primary key nor unique: two rows could be mistaken for each other`,
    );
  }
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));
