import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type Database from 'better-sqlite3';

import { type Logger, messageOf } from 'svc/sdk';
import { blockFilesIn } from '../blocks/block-folder.ts';
import { type BlockTable, blockTable } from '../blocks/block-table.ts';
import { type CataloguePlace, openFile } from './catalogue-file.ts';
import type { BlockContent } from './content.ts';
import { doubtOf, problemOf, sealMark, seenIn } from './examine.ts';
import { type Loss, type LossTable, openLosses } from './losses.ts';
import { rebuild } from './rebuild.ts';
import { reconcile, takeBack } from './reconcile.ts';
import { sealFile } from './seal.ts';
import { setAside } from '../bytes/set-aside.ts';

export interface Catalogue {
  readonly db: Database.Database;
  readonly blocks: BlockTable;
  /** Losses other than blocks. */
  readonly losses: LossTable;
  /** Last trusted time of the wall clock. */
  readonly lastSeen: { get(): number | undefined; set(time: number): void };
  /** Folder of the block files. */
  readonly blocksFolder: string;
  /** Where it is and what it is made of. */
  readonly place: CataloguePlace;
  /** Why it is not what was written; the next opening rebuilds it. */
  readonly doubt: string | undefined;
  /** Compares it with the blocks. */
  examine(): void;
  close(): void;
}

export interface CatalogueOptions {
  /** Folder of blocks; default `blocks` next to the catalogue. */
  readonly blocksFolder?: string;
  readonly content?: BlockContent;
  readonly log?: Logger;
  /** The addon as a file of its own, for a binary that has no `node_modules`. */
  readonly nativeBinding?: string;
}

/**
 * Opens the catalogue of one store's blocks, with whatever else its schema holds: one SQL text per
 * version, applied in order, each once. It is derived from the blocks: one that is damaged is set
 * aside, and one that is missing is rebuilt. Files and rows are reconciled.
 */
export function openCatalogue(
  path: string,
  schema: readonly string[],
  {
    blocksFolder = join(dirname(path), 'blocks'),
    content = {},
    log,
    nativeBinding,
  }: CatalogueOptions = {},
): Catalogue {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  mkdirSync(blocksFolder, { recursive: true, mode: 0o700 });
  const place = { path, blocksFolder, schema, content, nativeBinding, log };
  const losses = openLosses(join(dirname(path), 'losses.json'), log);
  takeBack(place, losses);
  makeSound(place, losses);
  const db = openFile(place, path);
  try {
    moveLosses(db, losses);
    const blocks = blockTable(db, blocksFolder);
    reconcile({ place, db, blocks, losses });
    let doubt: string | undefined;
    return {
      db,
      blocks,
      losses,
      lastSeen: lastSeenIn(db),
      blocksFolder,
      place,
      get doubt() {
        return doubt;
      },
      examine: () => void (doubt = doubtOf(db, place)),
      close: () => close(db, { path, log, isSound: doubt === undefined }),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function makeSound(place: CataloguePlace, losses: LossTable): void {
  const { path, blocksFolder: folder, log } = place;
  if (!existsSync(path)) {
    // What a killed process left of a catalogue that is gone belongs to no other.
    ['-wal', '-shm', '.seal'].forEach((ending) => rmSync(`${path}${ending}`, { force: true }));
    if (blockFilesIn(folder).length > 0) {
      const { blocks } = rebuild(place, losses);
      log?.error(
        { event: 'store.catalogue_missing', folder, blocks },
        'block catalogue was missing; rebuilt it from the blocks',
      );
    }
    return;
  }
  const cause = problemOf(place);
  if (cause !== undefined) {
    const kept = setAside(path);
    const { blocks } = rebuild(place, losses);
    log?.error(
      { event: 'store.catalogue_rebuilt', folder, blocks, cause, kept },
      'block catalogue was damaged; set it aside and rebuilt it from the blocks; check the disk',
    );
  }
}

/** Losses were a table once, which a damaged catalogue would take with it. */
function moveLosses(db: Database.Database, losses: LossTable): void {
  const exists = db.prepare("select 1 from sqlite_master where name = 'losses'").get();
  if (exists !== undefined) {
    db.prepare<[], Loss>('select * from losses')
      .all()
      .forEach((loss) => losses.add(loss));
    db.exec('drop table losses');
  }
}

function lastSeenIn(db: Database.Database): Catalogue['lastSeen'] {
  const set = db.prepare<[number]>(
    'insert into clock (id, seen) values (1, ?) on conflict (id) do update set seen = excluded.seen',
  );
  return { get: () => seenIn(db), set: (time) => void set.run(time) };
}

interface Closing {
  readonly path: string;
  readonly log: Logger | undefined;
  readonly isSound: boolean;
}

/** A seal that is not written is only missed: the next opening looks at every row. */
function close(db: Database.Database, { path, log, isSound }: Closing): void {
  if (!db.open) {
    return;
  }
  const mark = sealMark(db);
  db.close();
  try {
    if (isSound) {
      sealFile(path, mark);
    }
  } catch (error) {
    log?.warn(
      { event: 'store.seal_failed', cause: messageOf(error) },
      'failed to seal the block catalogue; the next start will check it in full',
    );
  }
}
