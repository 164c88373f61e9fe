import { connect } from '../../../core/storage/sqlite/connection.ts';
import { errors } from './errors.ts';

export type CellType = 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB';

export interface Column {
  readonly name: string;
  readonly type: CellType;
}

export interface Table {
  readonly name: string;
  /** Definition in the words of SQLite, without its indexes. */
  readonly definition: string;
  readonly columns: readonly Column[];
  /** Places in `columns` of the primary key. */
  readonly key: readonly number[];
  /** True if a number is never given twice. */
  readonly isNumbered: boolean;
}

/** Tables, indexes and triggers that definitions in the words of SQLite make. */
export interface Shape {
  /** Each after those that its rows refer to. */
  readonly tables: readonly Table[];
  readonly indexes: readonly string[];
  readonly triggers: readonly string[];
}

const types: ReadonlySet<string> = new Set<CellType>(['INTEGER', 'REAL', 'TEXT', 'BLOB']);

/** Asks SQLite, in a database without rows, what definitions make. */
export function shapeOf(definitions: readonly string[], nativeBinding: string | undefined): Shape {
  const connection = connect(':memory:', { nativeBinding });
  const all = <R>(text: string, ...values: readonly unknown[]): R[] =>
    connection.prepare(text).all(...values) as R[];
  const written = (type: string): string[] =>
    all<{ sql: string }>(
      "select sql from sqlite_schema where type = ? and sql is not null and name not like 'sqlite_%' order by rowid",
      type,
    ).map(({ sql }) => sql);
  try {
    definitions.forEach((text) => connection.exec(text));
    const made = all<{ name: string; sql: string }>(
      "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by rowid",
    );
    const parents = new Map(
      made.map(({ name }) => [
        name,
        all<{ table: string }>('select "table" from pragma_foreign_key_list(?)', name).map(
          ({ table }) => table,
        ),
      ]),
    );
    const tables = made.map(({ name, sql }): Table => {
      const columns = all<{ name: string; type: string; pk: number; hidden: number }>(
        'select name, type, pk, hidden from pragma_table_xinfo(?)',
        name,
      ).filter(({ hidden }) => hidden === 0);
      const odd = columns.find(({ type }) => !types.has(type));
      const key = columns
        .map(({ pk }, at) => ({ pk, at }))
        .filter(({ pk }) => pk > 0)
        .toSorted((a, b) => a.pk - b.pk)
        .map(({ at }) => at);
      if (odd !== undefined || key.length === 0) {
        throw errors.table_form({
          table: name,
          problem:
            odd === undefined
              ? 'has no primary key'
              : `has the column ${odd.name} of the type ${odd.type}`,
        });
      }
      return {
        name,
        definition: sql,
        columns: columns.map((column) => ({ name: column.name, type: column.type as CellType })),
        key,
        isNumbered: /\bautoincrement\b/i.test(sql),
      };
    });
    return {
      tables: afterParents(tables, parents),
      indexes: [...written('index'), ...written('view')],
      triggers: written('trigger'),
    };
  } finally {
    connection.close();
  }
}

function afterParents(
  tables: readonly Table[],
  parents: ReadonlyMap<string, readonly string[]>,
): readonly Table[] {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const placed = new Set<Table>();
  const place = (table: Table, below: readonly string[]): void => {
    for (const name of parents.get(table.name) ?? []) {
      const parent = byName.get(name);
      if (parent !== undefined && parent !== table && !below.includes(name)) {
        place(parent, [...below, table.name]);
      }
    }
    placed.add(table);
  };
  tables.forEach((table) => place(table, []));
  return [...placed];
}
