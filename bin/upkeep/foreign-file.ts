import { statSync } from 'node:fs';

import { isSvcError, messageOf } from '../../core/sdk/index.ts';
import { connect } from '../../core/storage/index.ts';
import { errors } from './errors.ts';

type Connection = ReturnType<typeof connect>;

/** Columns that are wanted, by table. */
export type Wanted = Readonly<Record<string, readonly string[]>>;

export type ForeignRow = Readonly<Record<string, unknown>>;

export interface ForeignTable {
  /** Columns among those wanted that the table has. */
  readonly columns: readonly string[];
  readonly rows: readonly ForeignRow[];
}

const maxFileBytes = 20 * 1024 ** 3;
const maxRows = 5_000;
const maxCellBytes = 200_000;

/**
 * Reads tables of a file that another program wrote, and that may be damaged or meant to harm: only
 * stored columns of real tables are read, never a view or a generated column, which would run SQL of
 * the file. A table that the file does not have is absent.
 */
export function readForeignFile(
  file: string,
  wanted: Wanted,
  nativeBinding: string | undefined,
): ReadonlyMap<string, ForeignTable> {
  let connection: Connection | undefined;
  try {
    if (statSync(file).size > maxFileBytes) {
      throw errors.foreign_file_large({ file, gigabytes: maxFileBytes / 1024 ** 3 });
    }
    connection = connect(file, { nativeBinding, mustExist: true, readonly: true });
    for (const pragma of ['trusted_schema = OFF', 'cell_size_check = ON', 'query_only = ON']) {
      connection.pragma(pragma);
    }
    // One moment of a file that its program may still be writing to.
    return connection.transaction(readTables)(connection, file, wanted);
  } catch (error) {
    throw isSvcError(error)
      ? error
      : errors.foreign_file({ file, cause: messageOf(error) }, { cause: error });
  } finally {
    connection?.close();
  }
}

function readTables(
  connection: Connection,
  file: string,
  wanted: Wanted,
): ReadonlyMap<string, ForeignTable> {
  const tables = new Map<string, ForeignTable>();
  for (const [table, names] of Object.entries(wanted)) {
    const columns = columnsOf(connection, table).filter((column) => names.includes(column));
    if (columns.length > 0) {
      tables.set(table, { columns, rows: rowsOf(connection, file, table, columns) });
    }
  }
  return tables;
}

const columnsOf = (connection: Connection, table: string): readonly string[] =>
  connection
    .prepare<[string], string>(
      `select info.name from pragma_table_list list, pragma_table_xinfo(list.name) info
       where list.schema = 'main' and list.type = 'table' and list.name = ? and info.hidden = 0`,
    )
    .pluck()
    .all(table);

function rowsOf(
  connection: Connection,
  file: string,
  table: string,
  columns: readonly string[],
): readonly ForeignRow[] {
  const [from, cells] = [quoted(table), columns.map(quoted)];
  // Lengths are in front of the values, which are read only once all of them fit.
  const lengths = cells.map((cell) => `ifnull(octet_length(${cell}), 0)`);
  const sizes = connection
    .prepare<[number], number>(`select max(0, ${lengths.join(', ')}) from ${from} limit ?`)
    .pluck()
    .all(maxRows + 1);
  if (sizes.length > maxRows) {
    throw errors.foreign_rows({ file, table, max: maxRows });
  }
  if (sizes.some((size) => size > maxCellBytes)) {
    throw errors.foreign_cell({ file, table, kilobytes: maxCellBytes / 1_000 });
  }
  return connection.prepare<[], ForeignRow>(`select ${cells.join(', ')} from ${from}`).all();
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
