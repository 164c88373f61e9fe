import { SvcError } from '../sdk/index.ts';

/** Failures of the store itself, not of the statement: nobody who wrote the statement can mend them. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [
    /^SQLITE_FULL/,
    'the disk is full: nothing was written. Free space in the data folder; writing goes on by itself',
  ],
  [
    /^SQLITE_IOERR/,
    'the disk reported an input/output error: nothing was written. Check the disk, then start svc again',
  ],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    'the database file is damaged: nothing was written. Stop svc and restore a backup with "svc backup restore"',
  ],
  [
    /^SQLITE_(BUSY|LOCKED)/,
    'another program holds svc.db locked: close it (a database browser?) and try again',
  ],
  [
    /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/,
    'the database file cannot be written: check owner and permissions of the data folder',
  ],
  [/^SQLITE_NOMEM/, 'there was not enough memory for this write: nothing was written'],
];

export function sqliteCode(error: unknown): string | undefined {
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

/** `unavailable` when the store itself failed; any other error comes back as it was. */
export function asUnavailable<E>(error: E): E | SvcError {
  const code = sqliteCode(error);
  const sentence = code && sentences.find(([pattern]) => pattern.test(code))?.[1];
  return sentence === undefined || sentence === ''
    ? error
    : new SvcError('unavailable', sentence, { cause: error });
}
