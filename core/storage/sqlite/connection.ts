import { chmodSync, closeSync, openSync } from 'node:fs';

import Database from 'better-sqlite3';
import { errors } from './errors.ts';

export type Connection = Database.Database;

export interface ConnectOptions {
  /** The addon as a file of its own, for a binary that has no `node_modules`. */
  readonly nativeBinding?: string | undefined;
  readonly timeoutMs?: number;
  readonly mustExist?: boolean;
  readonly readonly?: boolean;
}

/** Earlier releases can lose a commit when a checkpoint meets a writer on another connection. */
const oldestSqlite = '3.51.3';

// The system caches frequently read parts of the file, too: a connection with the default cache of
// 16 MB holds most of that twice.
const settings = [
  'busy_timeout = 5000',
  'foreign_keys = ON',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'temp_store = MEMORY',
  'cache_size = -4000',
];

/** Emptied pages can be returned to the disk; that is decided when the file is made. */
export const madeWith = 'auto_vacuum = INCREMENTAL';

/**
 * Settings that acknowledged writes rely on: the log is synced at each commit, and never left to
 * grow.
 */
const writerSettings = [
  madeWith,
  'journal_mode = WAL',
  'synchronous = FULL',
  'wal_autocheckpoint = 1000',
  `journal_size_limit = ${64 * 1024 * 1024}`,
];

/** Opens a file with nothing set, for lock files and copies. */
export function connect(file: string, options: ConnectOptions = {}): Connection {
  const { nativeBinding, timeoutMs = 5_000, mustExist = false, readonly = false } = options;
  return new Database(file, {
    timeout: timeoutMs,
    fileMustExist: mustExist,
    readonly,
    // The typings know only a path; the addon itself is the documented form for a single binary.
    ...(nativeBinding !== undefined && {
      nativeBinding: addon(nativeBinding) as unknown as string,
    }),
  });
}

/** The only connection that writes. */
export function connectWriter(file: string, options: ConnectOptions = {}): Connection {
  keepPrivate(file);
  const connection = configured(connect(file, options), [...settings, ...writerSettings]);
  assertSqlite(connection);
  return connection;
}

/** Creates the file before SQLite does: the log next to a database takes over its mode. */
function keepPrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** A connection that sees every commit and can make none. */
export function connectReader(file: string, options: ConnectOptions = {}): Connection {
  return configured(connect(file, { ...options, mustExist: true }), [
    ...settings,
    'query_only = ON',
  ]);
}

export const sqliteVersion = (connection: Connection): string =>
  connection.prepare('select sqlite_version()').pluck().get() as string;

export function assertSqlite(connection: Connection, oldest = oldestSqlite): void {
  const version = sqliteVersion(connection);
  if (version.localeCompare(oldest, 'en', { numeric: true }) < 0) {
    throw errors.sqlite_old({ version, oldest });
  }
}

function configured(connection: Connection, pragmas: readonly string[]): Connection {
  for (const pragma of pragmas) {
    connection.pragma(pragma);
  }
  return connection;
}

const addons = new Map<string, object>();

function addon(file: string): object {
  const known = addons.get(file);
  if (known !== undefined) {
    return known;
  }
  const loaded = { exports: {} };
  process.dlopen(loaded, file);
  addons.set(file, loaded.exports);
  return loaded.exports;
}
