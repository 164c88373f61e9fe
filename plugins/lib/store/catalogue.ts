import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import Database from 'better-sqlite3';

import { type Logger, messageOf, SvcError } from 'svc/sdk';
import { draftSuffix } from './block-file.ts';
import { type BlockTable, blockTable, blockTableSql } from './block-table.ts';

export interface Catalogue {
  readonly db: Database.Database;
  readonly blocks: BlockTable;
  /** Where the files of the blocks lie. */
  readonly blocksFolder: string;
  close(): void;
}

export interface CatalogueOptions {
  /** Default `blocks` beside the catalogue. */
  readonly blocksFolder?: string;
  readonly log?: Logger;
  /** The addon as a file of its own, for a binary that has no `node_modules`. */
  readonly nativeBinding?: string;
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

/**
 * What is known about the blocks of one store, and whatever else its schema holds: one text of SQL per version, applied
 * in order, each once. Files and rows are brought into agreement.
 */
export function openCatalogue(path: string, schemaSql: readonly string[], options: CatalogueOptions = {}): Catalogue {
  const { blocksFolder = join(dirname(path), 'blocks'), log } = options;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  mkdirSync(blocksFolder, { recursive: true, mode: 0o700 });
  const isNew = !existsSync(path);
  const db = openDatabase(path, options);
  try {
    migrate(db, path, [blockTableSql, ...schemaSql]);
    const blocks = blockTable(db, blocksFolder);
    agree(blocks, blocksFolder, isNew, log);
    return { db, blocks, blocksFolder, close: () => void db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

function openDatabase(path: string, { nativeBinding }: CatalogueOptions): Database.Database {
  // Before SQLite makes it: the log beside a database takes over its mode.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  try {
    const db = new Database(path, nativeBinding === undefined ? {} : { nativeBinding });
    for (const setting of settings) {
      db.pragma(setting);
    }
    return db;
  } catch (error) {
    throw new SvcError('internal', `the catalogue ${path} cannot be opened: ${messageOf(error)}`, { cause: error });
  }
}

function migrate(db: Database.Database, path: string, versions: readonly string[]): void {
  const found = db.pragma('user_version', { simple: true }) as number;
  if (found > versions.length) {
    throw new SvcError('unavailable', `the catalogue ${path} has version ${found} and this svc knows ${versions.length}: it was written by a newer one`);
  }
  db.transaction(() => {
    for (let version = found; version < versions.length; version++) {
      db.exec(versions[version]!);
    }
    db.pragma(`user_version = ${versions.length}`);
  }).immediate();
}

/**
 * A file without a row was being made when the process ended, and what it holds is still in the log; a row without a
 * file has lost its data. Only a catalogue that was lost itself proves nothing against the files: they are put aside.
 */
function agree(blocks: BlockTable, folder: string, isNew: boolean, log: Logger | undefined): void {
  const rows = blocks.list();
  const known = new Set(rows.map(({ file }) => file));
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const present = new Set(files.map(({ name }) => name));
  const strays = [...present].filter((name) => !known.has(name));
  const aside = isNew ? strays.filter((name) => !name.endsWith(draftSuffix)) : [];
  for (const name of strays) {
    if (!aside.includes(name)) {
      rmSync(join(folder, name), { force: true });
      log?.info({ event: 'store.unfinished_removed', folder, name }, 'removed an unfinished block');
    }
  }
  if (aside.length > 0) {
    const shelter = join(folder, 'without-catalogue');
    mkdirSync(shelter, { recursive: true, mode: 0o700 });
    for (const name of aside) {
      renameSync(join(folder, name), join(shelter, name));
    }
    log?.error(
      { event: 'store.catalogue_lost', folder, shelter, files: aside.length },
      'block catalogue is missing: its blocks were moved aside and are not read; restore catalogue and blocks from a backup',
    );
  }
  for (const { id, file, damaged } of rows) {
    if (!present.has(file) && damaged === 0) {
      blocks.markDamaged(id, 'the file is missing');
      log?.error({ event: 'store.block_missing', folder, file }, 'block file is missing: queries miss what it held; restore it from a backup');
    }
  }
}
