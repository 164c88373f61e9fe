import { SvcError } from 'svc/sdk';

export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

const maxSql = 64 * 1024;

/** What is needed to reach another file, or to change how the database works; SQLite has no other spelling of a keyword. */
const closedWords =
  /\b(?:attach|detach|vacuum|pragma\w*|load_extension|virtual|svc_migrations|sqlite_\w+)\b/i;

const openWords = /^(?:select|with|values|insert|replace|update|delete)\b/i;

/** A statement as a pack sent it: its text, then a value for each `?`. */
export function statementOf(input: unknown): Statement {
  const [sql, ...values] = Array.isArray(input) ? (input as unknown[]) : [];
  if (typeof sql !== 'string' || sql.length > maxSql || !values.every(isValue)) {
    throw new SvcError(
      'invalid_argument',
      `a statement is its text, of at most ${maxSql / 1024} KiB, and texts, numbers or null for its "?"`,
    );
  }
  return { sql, values };
}

const isValue = (value: unknown): value is string | number | null =>
  value === null || typeof value === 'string' || typeof value === 'number';

/** A statement of a running pack: it reads or changes rows. The database itself takes one at a time. */
export function checkStatement(sql: string): void {
  if (!openWords.test(sql.trimStart())) {
    throw new SvcError(
      'invalid_argument',
      'a statement begins with select, with, values, insert, replace, update or delete; tables change by migrations/*.sql',
    );
  }
  checkWords(sql, 'a statement');
}

export function checkMigration(name: string, sql: string): void {
  checkWords(sql, `migrations/${name}`);
  if (/\b(?:commit|rollback)\b/i.test(sql)) {
    throw new SvcError(
      'invalid_argument',
      `migrations/${name} ends a transaction: each file is one already`,
    );
  }
}

function checkWords(sql: string, where: string): void {
  const [word] = closedWords.exec(sql) ?? [];
  if (word !== undefined) {
    throw new SvcError(
      'invalid_argument',
      `${where} says "${word}", which is closed to packs; in a text, pass it as a value`,
    );
  }
}
