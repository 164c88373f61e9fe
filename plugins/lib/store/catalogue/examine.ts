import { statSync } from 'node:fs';
import { join } from 'node:path';

import type Database from 'better-sqlite3';

import { messageOf } from 'svc/sdk';
import type { BlockRow } from '../blocks/block-table.ts';
import { type CataloguePlace, isDamage, openFile } from './catalogue-file.ts';
import { describeBeside, descriptionOf } from '../blocks/describe-block.ts';
import type { BlockDescription } from '../blocks/description.ts';
import { breakSeal } from './seal.ts';

/** The last time that the catalogue noted; each version of svc does, every minute. */
export function seenIn(db: Database.Database): number | undefined {
  return db.prepare<[], number>('select seen from clock').pluck().get();
}

export const sealMark = (db: Database.Database): string => String(seenIn(db) ?? 'never');

/** Returns why a catalogue is not what was written; undefined for a sound one. */
export function problemOf(place: CataloguePlace): string | undefined {
  switch (breakSeal(place.path, (path) => markIn(place, path))) {
    case 'sealed':
      return undefined;
    case 'changed':
      return 'its bytes are not those that were written';
    case 'unsealed':
      return orDamage(() => {
        const db = openFile(place, place.path);
        try {
          return problemIn(db, place);
        } finally {
          db.close();
        }
      });
  }
}

/** The same of an open catalogue. */
export const doubtOf = (db: Database.Database, place: CataloguePlace): string | undefined =>
  orDamage(() => problemIn(db, place));

function orDamage(look: () => string | undefined): string | undefined {
  try {
    return look();
  } catch (error) {
    if (isDamage(error)) {
      return messageOf(error);
    }
    throw error;
  }
}

function markIn(place: CataloguePlace, path: string): string | undefined {
  try {
    const db = openFile(place, path);
    try {
      return sealMark(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if (isDamage(error)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Looks at an open catalogue: its pages, its schema, and each row beside the block that it is of.
 * Blocks of earlier versions get a description beside them, as only the catalogue knows what is in
 * them.
 */
function problemIn(db: Database.Database, place: CataloguePlace): string | undefined {
  const [page] = db.pragma('integrity_check(1)') as { readonly integrity_check: string }[];
  if (page!.integrity_check !== 'ok') {
    return page!.integrity_check;
  }
  const missing = missingIn(db, place);
  if (missing !== undefined) {
    return `its schema lacks ${missing}`;
  }
  for (const row of db.prepare<[], BlockRow>('select * from blocks').all()) {
    const problem = problemOfRow(db, place, row);
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

function missingIn(db: Database.Database, place: CataloguePlace): string | undefined {
  const list = "select name || ' ' || coalesce(sql, '') from sqlite_master order by name";
  const plain = (text: unknown): string => String(text).replaceAll(/\s+/g, ' ');
  const found = new Set(db.prepare(list).pluck().all().map(plain));
  const fresh = openFile(place, ':memory:');
  try {
    return fresh
      .prepare(list)
      .pluck()
      .all()
      .map(plain)
      .find((entry) => !found.has(entry))
      ?.split(' ')[0];
  } finally {
    fresh.close();
  }
}

function problemOfRow(
  db: Database.Database,
  { blocksFolder, content }: CataloguePlace,
  row: BlockRow,
): string | undefined {
  const path = join(blocksFolder, row.file);
  let description: BlockDescription | undefined;
  try {
    description = descriptionOf(path);
  } catch {
    // The block is missing or damaged, which its own reading tells.
    return undefined;
  }
  if (description === undefined) {
    describeRow(db, content, row, path);
    return undefined;
  }
  const { level, mint, maxt, rows, meta } = description;
  return row.level === level &&
    row.mint === mint &&
    row.maxt === maxt &&
    row.rows === rows &&
    row.meta === meta &&
    row.bytes === statSync(path).size &&
    (content.agrees?.(db, row, description) ?? true)
    ? undefined
    : `what it knows of ${row.file} is not what that block says`;
}

/** Writes what the catalogue knows of a block beside it; the row says the same from then on. */
export function describeRow(
  db: Database.Database,
  content: CataloguePlace['content'],
  row: BlockRow,
  path: string,
): void {
  const { level, mint, maxt, rows, meta } = row;
  const description = content.describeRow?.(db, row) ?? {
    level,
    mint,
    maxt,
    rows,
    meta,
    replaces: [],
    store: {},
  };
  describeBeside(path, description);
  if (description.meta !== meta) {
    db.prepare('update blocks set meta = ? where id = ?').run(description.meta, row.id);
  }
}
