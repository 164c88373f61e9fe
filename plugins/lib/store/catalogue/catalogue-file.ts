import { chmodSync, closeSync, openSync } from 'node:fs';

import Database from 'better-sqlite3';

import { isSvcError, type Logger, messageOf } from 'svc/sdk';
import { blockTableSql } from '../blocks/block-table.ts';
import type { BlockContent } from './content.ts';
import { errors } from './errors.ts';

/** Where a catalogue is, and what is in it. */
export interface CataloguePlace {
  readonly path: string;
  readonly blocksFolder: string;
  /** SQL texts of the store, one per version. */
  readonly schema: readonly string[];
  readonly content: BlockContent;
  readonly nativeBinding: string | undefined;
  readonly log: Logger | undefined;
}

const settings = [
  'journal_mode = WAL',
  'synchronous = FULL',
  'busy_timeout = 5000',
  'foreign_keys = ON',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'temp_store = MEMORY',
  `journal_size_limit = ${64 * 1024 * 1024}`,
];

const clockSql =
  'create table if not exists clock (id integer primary key check (id = 1), seen real not null) strict';

/** Opens the database file with the newest version of its schema. */
export function openFile(
  { schema, nativeBinding }: CataloguePlace,
  path: string,
): Database.Database {
  if (path !== ':memory:') {
    // Before SQLite creates it: the log next to a database takes over its mode.
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  }
  const db = new Database(path, nativeBinding === undefined ? {} : { nativeBinding });
  try {
    for (const setting of settings) {
      db.pragma(setting);
    }
    migrate(db, path, [blockTableSql, ...schema]);
    db.exec(clockSql);
    return db;
  } catch (error) {
    db.close();
    throw isSvcError(error)
      ? error
      : errors.catalogue_unreadable({ path, cause: messageOf(error) }, { cause: error });
  }
}

function migrate(db: Database.Database, path: string, versions: readonly string[]): void {
  const found = db.pragma('user_version', { simple: true }) as number;
  if (found > versions.length) {
    throw errors.catalogue_version({ path, found, max: versions.length });
  }
  db.transaction(() => {
    for (let version = found; version < versions.length; version++) {
      db.exec(versions[version]!);
    }
    db.pragma(`user_version = ${versions.length}`);
  }).immediate();
}

/** What the machine refuses, such as space: the file itself may be as it was written. */
const refusals = /^SQLITE_(?:FULL|IOERR|CANTOPEN|READONLY|BUSY|LOCKED|PERM|AUTH|NOMEM|INTERRUPT)/;

/** Returns whether an error of SQLite says that the content of a file is not what was written. */
export function isDamage(error: unknown): boolean {
  if (isSvcError(error) && error.cause === undefined) {
    return false;
  }
  const cause = isSvcError(error) ? error.cause : error;
  const { code } = cause as { readonly code?: unknown };
  // Without a code it is a text or a number that cannot be read.
  return typeof code !== 'string' || (code.startsWith('SQLITE_') && !refusals.test(code));
}
