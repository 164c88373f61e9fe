import { connect, sqliteVersion } from '../../../core/storage/sqlite/connection.ts';

/** Result of inspecting every page and row of a database file. */
export interface Inspection {
  readonly sqlite: string;
  /** Damage, in SQLite's words; empty if there is none. */
  readonly problems: readonly string[];
  readonly tables: Readonly<Record<string, number>>;
}

/** Reads the whole file: minutes for a large one, so a serving process does it in a thread. */
export function inspect(file: string, nativeBinding: string | undefined): Inspection {
  const connection = connect(file, { nativeBinding, readonly: true });
  try {
    const problems = (
      connection.prepare('PRAGMA integrity_check(20)').pluck().all() as string[]
    ).filter((line) => line !== 'ok');
    const names = connection
      .prepare(
        "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite%'",
      )
      .pluck()
      .all() as string[];
    const count = (name: string): number =>
      connection
        .prepare(`select count(*) from "${name.replaceAll('"', '""')}"`)
        .pluck()
        .get() as number;
    return {
      sqlite: sqliteVersion(connection),
      problems,
      tables: Object.fromEntries(names.toSorted().map((name) => [name, count(name)])),
    };
  } finally {
    connection.close();
  }
}
