import { errors } from './errors.ts';

export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

const maxSql = 64 * 1024;

/**
 * Keywords that reach another file, or change how the database works; SQLite has no other spelling
 * of them.
 */
const closedWords =
  /\b(?:attach|detach|vacuum|pragma\w*|load_extension|virtual|svc_migrations|sqlite_\w+)\b/i;

const openWords = /^(?:select|with|values|insert|replace|update|delete)\b/i;

/** A statement as a pack sent it: its text, then a value for each `?`. */
export function statementOf(input: unknown): Statement {
  const [sql, ...values] = Array.isArray(input) ? (input as unknown[]) : [];
  if (typeof sql !== 'string' || sql.length > maxSql || !values.every(isValue)) {
    throw errors.statement_form({ maxSql: maxSql / 1024 });
  }
  return { sql, values };
}

const isValue = (value: unknown): value is string | number | null =>
  value === null || typeof value === 'string' || typeof value === 'number';

/** A statement of a running pack: it reads or changes rows. The database itself takes one at a time. */
export function checkStatement(sql: string): void {
  if (!openWords.test(sql.trimStart())) {
    throw errors.statement_verb();
  }
  checkWords(sql, 'a statement');
}

export function checkMigration(name: string, sql: string): void {
  checkWords(sql, `migrations/${name}`);
  if (/\b(?:commit|rollback)\b/i.test(sql)) {
    throw errors.migration_transaction({ name });
  }
}

function checkWords(sql: string, where: string): void {
  const [word] = closedWords.exec(sql) ?? [];
  if (word !== undefined) {
    throw errors.word_closed({ where, word });
  }
}
