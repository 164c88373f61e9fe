import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import Database from 'better-sqlite3';

import { type Logger, messageOf } from 'svc/sdk';
import { draftSuffix } from './block-file.ts';
import { type BlockTable, blockTable, blockTableSql } from './block-table.ts';
import { errors } from './errors.ts';

export interface Catalogue {
  readonly db: Database.Database;
  readonly blocks: BlockTable;
  /** Losses other than blocks. */
  readonly losses: LossTable;
  /** Last trusted time of the wall clock. */
  readonly lastSeen: { get(): number | undefined; set(time: number): void };
  /** Folder of the block files. */
  readonly blocksFolder: string;
  close(): void;
}

/** A part that is gone besides blocks, such as records of the log, and between which times it may have held something. */
export interface Loss {
  readonly part: string;
  readonly cause: string;
  readonly mint: number;
  readonly maxt: number;
}

export interface LossTable {
  /** Adds a loss; a known one keeps its first description. */
  add(loss: Loss): void;
  list(): readonly Loss[];
  /** Drops losses that end before this time. */
  forget(before: number): void;
}

export interface CatalogueOptions {
  /** Folder of blocks; default `blocks` next to the catalogue. */
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
 * Opens the catalogue of one store's blocks, with whatever else its schema holds: one SQL text per
 * version, applied in order, each once. Files and rows are reconciled.
 */
export function openCatalogue(
  path: string,
  schemaSql: readonly string[],
  options: CatalogueOptions = {},
): Catalogue {
  const { blocksFolder = join(dirname(path), 'blocks'), log } = options;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  mkdirSync(blocksFolder, { recursive: true, mode: 0o700 });
  const isNew = !existsSync(path);
  const db = openDatabase(path, options);
  try {
    migrate(db, path, [blockTableSql, ...schemaSql]);
    const blocks = blockTable(db, blocksFolder);
    const losses = lossTable(db);
    agree({ blocks, losses, folder: blocksFolder, isNew, log });
    return {
      db,
      blocks,
      losses,
      lastSeen: lastSeenIn(db),
      blocksFolder,
      close: () => void db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function openDatabase(path: string, { nativeBinding }: CatalogueOptions): Database.Database {
  // Before SQLite creates it: the log next to a database takes over its mode.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  try {
    const db = new Database(path, nativeBinding === undefined ? {} : { nativeBinding });
    for (const setting of settings) {
      db.pragma(setting);
    }
    return db;
  } catch (error) {
    throw errors.catalogue_unreadable({ path, cause: messageOf(error) }, { cause: error });
  }
}

/** Creates the table of losses. Not one of the versions, which are numbered by the stores. */
function lossTable(db: Database.Database): LossTable {
  db.exec(
    'create table if not exists losses (part text primary key, cause text not null, mint real not null, maxt real not null) strict, without rowid',
  );
  const insert = db.prepare<Loss>(
    'insert into losses (part, cause, mint, maxt) values (@part, @cause, @mint, @maxt) on conflict do nothing',
  );
  const erase = db.prepare<[number]>('delete from losses where maxt < ?');
  const all = db.prepare<[], Loss>('select * from losses order by mint, part');
  let known = all.all();
  return {
    add(loss) {
      insert.run(loss);
      known = all.all();
    },
    list: () => known,
    forget(before) {
      if (known.some(({ maxt }) => maxt < before)) {
        erase.run(before);
        known = all.all();
      }
    },
  };
}

function lastSeenIn(db: Database.Database): Catalogue['lastSeen'] {
  db.exec(
    'create table if not exists clock (id integer primary key check (id = 1), seen real not null) strict',
  );
  const get = db.prepare<[], number>('select seen from clock').pluck();
  const set = db.prepare<[number]>(
    'insert into clock (id, seen) values (1, ?) on conflict (id) do update set seen = excluded.seen',
  );
  return { get: () => get.get(), set: (time) => void set.run(time) };
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

interface Agreeing {
  readonly blocks: BlockTable;
  readonly losses: LossTable;
  readonly folder: string;
  readonly isNew: boolean;
  readonly log: Logger | undefined;
}

/**
 * Reconciles files and rows. A file without a row was being made when the process ended, and its
 * content is still in the log; a row without a file has lost its data. Only a lost catalogue proves
 * nothing against the files: they are put aside.
 */
function agree({ blocks, losses, folder, isNew, log }: Agreeing): void {
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
    losses.add({
      part: 'the catalogue of blocks',
      cause: `it was lost, and ${aside.length} blocks with it`,
      mint: -Infinity,
      maxt: newestIn(shelter),
    });
    log?.error(
      { event: 'store.catalogue_lost', folder, shelter, files: aside.length },
      'block catalogue is missing; moved its blocks aside, restore catalogue and blocks from a backup',
    );
  }
  for (const { id, file, damaged } of rows) {
    if (!present.has(file) && damaged === 0) {
      blocks.markDamaged(id, 'the file is missing');
      log?.error(
        { event: 'store.block_missing', folder, file },
        'block file is missing; queries miss its data, restore it from a backup',
      );
    }
  }
}

/**
 * Returns the newest file time: nothing in a block is later than that of its file, as far as clocks
 * were right.
 */
const newestIn = (folder: string): number =>
  Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs));
