import { existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type Database from 'better-sqlite3';

import { blockFilesIn, filesIn } from '../blocks/block-folder.ts';
import { aboutSuffix, draftSuffix, isBlock } from '../blocks/block-name.ts';
import type { BlockTable } from '../blocks/block-table.ts';
import type { CataloguePlace } from './catalogue-file.ts';
import { describeBeside, descriptionOf } from '../blocks/describe-block.ts';
import type { LossTable } from './losses.ts';
import { beginning, enterUnknown, knownOf, rowOf } from './rebuild.ts';

interface Reconciling {
  readonly place: CataloguePlace;
  readonly db: Database.Database;
  readonly blocks: BlockTable;
  readonly losses: LossTable;
}

/**
 * Reconciles files and rows. A block that describes itself is complete with what it says, whether
 * its row was written or not; one that does not was being made by an earlier version when that
 * ended, and its content is still in the log. A row without a file has lost its data.
 */
export function reconcile({ place, db, blocks, losses }: Reconciling): void {
  const { blocksFolder: folder, log } = place;
  const forget = db.prepare<[number]>('delete from blocks where id = ?');
  forgetUnknown({ place, db, blocks, losses });
  const known = new Set(blocks.list().map(({ file }) => file));
  const files = filesIn(folder);
  const present = new Set(files);
  for (const name of files) {
    const isOrphan = name.endsWith(aboutSuffix) && !present.has(name.slice(0, -aboutSuffix.length));
    if (name.endsWith(draftSuffix) || isOrphan) {
      remove(name);
    }
  }
  const strays = files.filter((name) => isBlock(name) && !known.has(name));
  const replaced = strays.length > 0 ? replacedIn(folder) : new Set<string>();
  for (const name of strays) {
    takeIn(name);
  }
  for (const { id, file, damaged } of blocks.list()) {
    if (!present.has(file) && damaged === 0) {
      blocks.markDamaged(id, 'the file is missing');
      log?.error(
        { event: 'store.block_missing', folder, file },
        'block file is missing; query results will lack its data until it is restored from a backup',
      );
    }
  }

  function takeIn(name: string): void {
    if (replaced.has(name)) {
      remove(name);
      return;
    }
    const found = isUndescribed(join(folder, name)) ? undefined : knownOf(place, name);
    if (found?.cause !== undefined) {
      enterUnknown(place, { blocks, losses }, name, found.cause);
      return;
    }
    if (found?.description === undefined) {
      remove(name);
      return;
    }
    const { description } = found;
    const names = new Set(description.replaces);
    const gone = blocks.list().filter(({ file }) => names.has(file));
    blocks.enter(rowOf(folder, name, description), (row) => {
      gone.forEach(({ id }) => forget.run(id));
      place.content.enter?.(db, row, description);
    });
    gone.forEach(({ file }) => remove(file));
    log?.warn(
      { event: 'store.block_entered', folder, file: name },
      'added a complete block that was missing from the catalogue',
    );
  }

  function remove(name: string): void {
    rmSync(join(folder, name), { force: true });
    log?.info(
      { event: 'store.unfinished_removed', folder, name },
      'removed an unfinished or replaced block',
    );
  }
}

/** Returns whether a block is intact and of an earlier version, or was never finished. */
function isUndescribed(path: string): boolean {
  try {
    return descriptionOf(path) === undefined;
  } catch {
    return false;
  }
}

/** A block that nobody knew is entered again once it tells what it holds, as one from a backup does. */
function forgetUnknown({ place, db, blocks, losses }: Reconciling): void {
  for (const { id, file, mint } of blocks.list()) {
    const path = join(place.blocksFolder, file);
    if (mint === beginning && existsSync(path) && knownOf(place, file).description !== undefined) {
      db.prepare('delete from blocks where id = ?').run(id);
      losses.drop(file);
    }
  }
}

/** Names of blocks whose data others hold. */
function replacedIn(folder: string): Set<string> {
  return new Set(
    blockFilesIn(folder).flatMap((file) => {
      try {
        return descriptionOf(join(folder, file))?.replaces ?? [];
      } catch {
        // It cannot say what it replaces: nothing is removed for it.
        return [];
      }
    }),
  );
}

const part = 'the catalogue of blocks';
const shelter = 'without-catalogue';

/**
 * Takes blocks in again that an earlier version put aside when it found no catalogue, as far as
 * they can be described. As long as one cannot, answers say so.
 */
export function takeBack(place: CataloguePlace, losses: LossTable): void {
  const folder = join(place.blocksFolder, shelter);
  if (!existsSync(folder)) {
    return;
  }
  const aside = { ...place, blocksFolder: folder };
  for (const file of blockFilesIn(folder)) {
    const { description } = knownOf(aside, file);
    const target = join(place.blocksFolder, file);
    if (description !== undefined && !existsSync(target)) {
      // First the description: a block without one would count as unfinished.
      describeBeside(target, description);
      renameSync(join(folder, file), target);
    }
  }
  const left = blockFilesIn(folder);
  losses.drop(part);
  if (left.length > 0) {
    losses.add({
      part,
      cause: `it was lost, and ${left.length} blocks in ${shelter} with it`,
      mint: -Infinity,
      maxt: Math.max(...left.map((file) => statSync(join(folder, file)).mtimeMs)),
    });
  } else if (readdirSync(folder).length === 0) {
    rmdirSync(folder);
  }
}
