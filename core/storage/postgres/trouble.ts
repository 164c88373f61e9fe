import Database from 'better-sqlite3';
import { DatabaseError } from 'pg';

import { messageOf, type SvcError } from '../../sdk/index.ts';
import type { Address } from './address.ts';
import { errors } from './errors.ts';

/** Codes by which SQLite tells the same. */
const broken: Readonly<Record<string, string>> = {
  '23502': 'SQLITE_CONSTRAINT_NOTNULL',
  '23503': 'SQLITE_CONSTRAINT_FOREIGNKEY',
  '23505': 'SQLITE_CONSTRAINT_UNIQUE',
  '23514': 'SQLITE_CONSTRAINT_CHECK',
  P0001: 'SQLITE_CONSTRAINT_TRIGGER',
};

/** Code by which `require_owner` in functions.sql refuses. */
const notOwner = 'SVC01';

const isPosted = (error: unknown): error is DatabaseError & { code: string } =>
  error instanceof DatabaseError && typeof error.code === 'string';

/** Returns whether the connection is of no use any more. */
export const isLoss = (error: unknown): boolean =>
  !isPosted(error) || /^(?:08|57P0)|^25P0[34]/.test(error.code) || error.severity === 'FATAL';

/** Failures of Postgres itself become `unavailable`; what a statement did wrong, the error that SQLite has for it. */
export function asKnown(error: unknown): unknown {
  if (!isPosted(error)) {
    return error;
  }
  const { code, message, constraint } = error;
  const cause = { cause: error };
  if (code === notOwner) {
    return errors.not_owner({ cause: message }, cause);
  }
  const violated = broken[code];
  if (violated !== undefined) {
    const isKey = code === '23505' && constraint?.endsWith('_pkey') === true;
    return new Database.SqliteError(message, isKey ? 'SQLITE_CONSTRAINT_PRIMARYKEY' : violated);
  }
  if (code === '25006') {
    return errors.pg_forbidden({ cause: message }, cause);
  }
  if (/^53[12]00$/.test(code)) {
    return errors.pg_full(cause);
  }
  if (code === '53300') {
    return errors.pg_busy({ cause: message }, cause);
  }
  if (code === '54000') {
    return errors.pg_too_long({ cause: message }, cause);
  }
  if (code === '42501') {
    return errors.pg_forbidden({ cause: message }, cause);
  }
  if (/^XX00[12]$|^58030$/.test(code)) {
    return errors.pg_damaged({ cause: message }, cause);
  }
  return isLoss(error)
    ? errors.pg_gone({ cause: message }, { cause: error, retryAfterSeconds: 1 })
    : new Database.SqliteError(message, code.startsWith('22') ? 'SQLITE_MISMATCH' : 'SQLITE_ERROR');
}

/** Returns why a connection could not be made, as a sentence that says what to do. */
export function refusalOf(error: unknown, address: Address): SvcError {
  const { place, user, database } = address;
  const cause = messageOf(error);
  const more = { cause: error };
  const code = codeOf(error);
  if (code.startsWith('28') || /SASL|password/i.test(cause)) {
    return errors.pg_password({ place, user, cause }, more);
  }
  if (code === '3D000') {
    return errors.pg_no_database({ place, database }, more);
  }
  if (code === '53300') {
    return errors.pg_busy({ cause }, more);
  }
  if (/does not support SSL/i.test(cause)) {
    return errors.pg_no_tls({ place }, more);
  }
  if (/CERT|ALTNAME|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return errors.pg_certificate({ place, cause }, more);
  }
  return errors.pg_unreachable({ place, cause: cause || code }, more);
}

/** Returns whether Postgres may be there in a moment: it is starting, or a host is not up yet. */
export const mayCome = (error: unknown): boolean =>
  /^(?:ECONNREFUSED|ENOENT|EHOSTUNREACH|ETIMEDOUT|EAI_AGAIN|57P03)$/.test(codeOf(error));

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
