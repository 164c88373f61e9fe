import { budget } from 'svc/query';
import {
  attemptBlock,
  type BlockDescription,
  type BlockRow,
  type Catalogue,
  type NewBlock,
  rowFor,
} from 'svc/store';

import { BlockBuilder } from '../blocks/block-builder.ts';
import { describedRaw } from '../blocks/block-content.ts';
import { type Blocks } from '../blocks/blocks.ts';
import { nextBlockName, positionIn } from '../blocks/catalogue-schema.ts';
import { thinnedOf } from '../blocks/rollup.ts';
import { Samples } from '../columns/samples.ts';
import { matchersOf, outside, type Selection } from '../columns/selection.ts';

export interface RewriteParts {
  readonly catalogue: Catalogue;
  readonly blocks: Blocks;
}

/**
 * Replaces a block by one without the selected samples, together with `also`, and removes its
 * downsampled copies, which are made anew. Returns whether the block could be read.
 */
export async function rewriteWithout(
  { catalogue, blocks }: RewriteParts,
  row: BlockRow,
  selection: Selection,
  also: () => void,
): Promise<boolean> {
  const held = blocks.hold([row]);
  try {
    const found = blocks.whole(row, (reader, lost) => ({
      all: reader.directory.series,
      selected: new Set(
        matchersOf(selection).flatMap((matchers) => reader.matching(matchers, lost)),
      ),
    }));
    if (found === undefined) {
      return false;
    }
    if (found.selected.size === 0) {
      catalogue.db.transaction(also)();
      return true;
    }
    const gone = [row, ...thinnedOf(blocks.list(), new Set([row.id]))];
    const rest = await write({ catalogue, blocks }, row, selection, {
      ...found,
      replaces: gone.map(({ file }) => file),
    });
    if (rest === 'unread') {
      return false;
    }
    catalogue.blocks.replace(
      gone.map(({ id }) => id),
      rest === 'nothing' ? [] : [rest],
      also,
    );
    blocks.refresh();
    return true;
  } finally {
    held.done();
  }
}

interface Rewriting {
  /** Number of series of the block. */
  readonly all: number;
  readonly selected: ReadonlySet<number>;
  /** Names of the blocks that go when this one is there. */
  readonly replaces: readonly string[];
}

/** Writes what a block holds outside the selection, if that is anything and can be read. */
async function write(
  { catalogue, blocks }: RewriteParts,
  row: BlockRow,
  selection: Selection,
  { all, selected, replaces }: Rewriting,
): Promise<NewBlock | 'nothing' | 'unread'> {
  const pause = budget({ timeoutMs: Infinity });
  const [samples, rest] = [new Samples(), new Samples()];
  let description: BlockDescription | undefined;
  let isRead = true;
  const { written: since = row.maxt } = JSON.parse(row.meta) as { readonly written?: number };
  const written = await attemptBlock(
    catalogue.blocksFolder,
    nextBlockName(catalogue.db, 'raw'),
    async (writer) => {
      const builder = new BlockBuilder(writer);
      for (let series = 0; series < all; series++) {
        isRead =
          blocks.whole(row, (reader, lost) => {
            reader.read(series, -Infinity, Infinity, samples.clear(), lost);
            samples.settle();
            const kept = selected.has(series) ? outside(selection, samples, rest) : samples;
            if (kept.length > 0) {
              builder.add(reader.labels(series), kept, 0, kept.length);
            }
            return true;
          }) === true;
        if (!isRead) {
          return false;
        }
        await pause.breathe();
      }
      builder.finish((found) => {
        const position = positionIn(catalogue.db);
        return (description = describedRaw(found, since, { replaces, position }));
      });
      return description !== undefined;
    },
  );
  if (!isRead) {
    return 'unread';
  }
  return written === undefined || description === undefined
    ? 'nothing'
    : rowFor(written, description);
}
