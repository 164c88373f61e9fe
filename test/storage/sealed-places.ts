import Database from 'better-sqlite3';

/** Places of a database file that hold what looks sealed, but that no plugin has declared, as `table.column`. */
export function undeclaredSeals(file: string): readonly string[] {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const declared = new Set(
      database
        .prepare("select table_name || '.' || column_name from core_sealed_columns")
        .pluck()
        .all() as string[],
    );
    const tables = database
      .prepare(
        "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'",
      )
      .pluck();
    const columns = database.prepare('select name from pragma_table_info(?)').pluck();
    return (tables.all() as string[])
      .flatMap((table) => (columns.all(table) as string[]).map((column) => ({ table, column })))
      .filter(({ table, column }) => !declared.has(`${table}.${column}`))
      .filter(
        ({ table, column }) =>
          database
            .prepare(`select 1 from "${table}" where "${column}" glob ? limit 1`)
            .get(`*v1.${'[0-9a-f]'.repeat(8)}.*`) !== undefined,
      )
      .map(({ table, column }) => `${table}.${column}`);
  } finally {
    database.close();
  }
}
