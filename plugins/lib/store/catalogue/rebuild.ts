import { renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { messageOf } from 'svc/sdk';
import { mendBits } from '../blocks/block-file.ts';
import { blockFilesIn } from '../blocks/block-folder.ts';
import { blockTable, type NewBlock } from '../blocks/block-table.ts';
import { type CataloguePlace, openFile } from './catalogue-file.ts';
import { descriptionOf } from '../blocks/describe-block.ts';
import { type BlockDescription, rowFor } from '../blocks/description.ts';
import { type LossTable, syncFolderNow } from './losses.ts';

/** Begin of a block of which nobody knows what it holds: the earliest time there is. */
export const beginning = -8.64e15;

/** What is known of a block without a catalogue. */
export interface Known {
  /** Undefined also of a block that is made of another, and will be again. */
  readonly description?: BlockDescription;
  /** Why nothing is known. */
  readonly cause?: string;
}

/** Rebuilds the catalogue from what the blocks say. It gets its name only once it is complete. */
export function rebuild(place: CataloguePlace, losses: LossTable): { readonly blocks: number } {
  const { path, blocksFolder, content } = place;
  const draft = `${path}.new`;
  ['', '-wal', '-shm'].forEach((ending) => rmSync(`${draft}${ending}`, { force: true }));
  const db = openFile(place, draft);
  let entered = 0;
  try {
    const known = blockFilesIn(blocksFolder).map((file) => [file, knownOf(place, file)] as const);
    const replaced = new Set(known.flatMap(([, { description }]) => description?.replaces ?? []));
    const blocks = blockTable(db, blocksFolder);
    for (const [file, found] of known) {
      if (found.description !== undefined && !replaced.has(file)) {
        const { description } = found;
        blocks.enter(rowOf(blocksFolder, file, description), (row) =>
          content.enter?.(db, row, description),
        );
        entered++;
      } else if (found.cause !== undefined) {
        enterUnknown(place, { blocks, losses }, file, found.cause);
      }
    }
    content.rebuilt?.(db);
  } finally {
    db.close();
  }
  renameSync(draft, path);
  syncFolderNow(dirname(path));
  return { blocks: entered };
}

/** What a block says about itself; if it says nothing, what reading it tells. */
export function knownOf({ blocksFolder, content }: CataloguePlace, file: string): Known {
  const path = join(blocksFolder, file);
  let cause = 'it does not say what it holds, and the catalogue that did is gone';
  try {
    const description = descriptionOf(path);
    if (description !== undefined) {
      return { description };
    }
  } catch (error) {
    cause = messageOf(error);
    const description = mendedDescription(path);
    if (description !== undefined) {
      return { description };
    }
  }
  try {
    const description = content.describe?.(path);
    return description === 'derived' ? {} : description === undefined ? { cause } : { description };
  } catch (error) {
    return { cause: messageOf(error) };
  }
}

/** Without a catalogue nothing else knows the block: what one flipped bit took is put back. */
function mendedDescription(path: string): BlockDescription | undefined {
  try {
    return mendBits(path) ? descriptionOf(path) : undefined;
  } catch {
    // More than one bit: the caller has the cause.
    return undefined;
  }
}

export const rowOf = (folder: string, file: string, description: BlockDescription): NewBlock =>
  rowFor({ file, bytes: statSync(join(folder, file)).size }, description);

/** Enters a block of which nobody knows what it holds: every answer up to the time of its file says so. */
export function enterUnknown(
  { blocksFolder }: CataloguePlace,
  {
    blocks,
    losses,
  }: { readonly blocks: ReturnType<typeof blockTable>; readonly losses: LossTable },
  file: string,
  cause: string,
): void {
  const { size, mtimeMs } = statSync(join(blocksFolder, file));
  const maxt = Math.ceil(mtimeMs);
  const row = blocks.enter({ file, level: 0, mint: beginning, maxt, bytes: size, rows: 0 });
  blocks.markDamaged(row.id, cause);
  losses.add({ part: file, cause, mint: -Infinity, maxt });
}
