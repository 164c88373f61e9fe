import type { SvcError } from '../../sdk/index.ts';
import { errors } from './errors.ts';

/** Failures of the store itself, not of the statement: nobody who wrote the statement can mend them. */
const failures: readonly (readonly [RegExp, (typeof errors)['sqlite_full']])[] = [
  [/^SQLITE_FULL/, errors.sqlite_full],
  [/^SQLITE_IOERR/, errors.sqlite_io],
  [/^SQLITE_(CORRUPT|NOTADB)/, errors.sqlite_damaged],
  [/^SQLITE_(BUSY|LOCKED)/, errors.sqlite_locked],
  [/^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/, errors.sqlite_forbidden],
  [/^SQLITE_NOMEM/, errors.sqlite_memory],
];

export function sqliteCode(error: unknown): string | undefined {
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

/** Returns `unavailable` if the store itself failed; any other error unchanged. */
export function asUnavailable<E>(error: E): E | SvcError {
  const code = sqliteCode(error);
  const failure =
    code === undefined ? undefined : failures.find(([pattern]) => pattern.test(code))?.[1];
  return failure === undefined ? error : failure({ cause: error });
}
