import { columnsIn, storedIn } from '../kit/stored.ts';

const sealed = /v1\.[0-9a-f]{8}\./;

/** Columns of what is stored that hold what looks sealed, but that no plugin has declared, as `table.column`. */
export function undeclaredSeals(dataDir: string): readonly string[] {
  const database = storedIn(dataDir, { readonly: true, fileMustExist: true });
  try {
    const declared = new Set(
      database
        .prepare("select table_name || '.' || column_name as declared from core_sealed_columns")
        .pluck()
        .all() as string[],
    );
    return columnsIn(database)
      .filter(({ table, column }) => !declared.has(`${table}.${column}`))
      .filter(({ table, column }) =>
        database
          .prepare(
            `select cast("${column}" as text) as text from "${table}" where cast("${column}" as text) like '%v1.%'`,
          )
          .pluck()
          .all()
          .some((text) => sealed.test(String(text))),
      )
      .map(({ table, column }) => `${table}.${column}`);
  } finally {
    database.close();
  }
}
