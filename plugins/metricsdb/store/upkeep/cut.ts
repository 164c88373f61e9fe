import { budget, compareLabels, type Labels } from 'svc/query';
import {
  attemptBlock,
  type BlockDescription,
  type Catalogue,
  type NewBlock,
  rowFor,
  type Wal,
} from 'svc/store';

import { BlockBuilder } from '../blocks/block-builder.ts';
import { type CutPosition, describedRaw } from '../blocks/block-content.ts';
import { type Blocks } from '../blocks/blocks.ts';
import { nextBlockName, setState } from '../blocks/catalogue-schema.ts';
import { Samples } from '../columns/samples.ts';
import { Scratch } from '../columns/scratch.ts';
import { type Head } from '../head/head.ts';
import { nobody } from '../head/series-owners.ts';
import { Batch } from '../intake/batch.ts';
import { ownerRecord } from '../intake/owner-record.ts';
import { writeRawLabels } from '../intake/raw-labels.ts';
import { type Reads } from '../select/reads.ts';
import { Checkpoint } from './wal-checkpoint.ts';

export interface CutParts {
  readonly head: Head;
  readonly wal: Wal;
  readonly catalogue: Catalogue;
  readonly blocks: Blocks;
  readonly reads: Reads;
  readonly now: () => number;
  /** Resolves when every push that was given to the log is in the head. */
  applied(): Promise<unknown>;
}

const partBytes = 1_048_576;

/**
 * Moves everything before `boundary` from the head into a block, and the rest into new segments of
 * the log, so that the old ones can be deleted. Pushes and queries continue meanwhile. A failure
 * changes nothing.
 */
export async function cutHead(parts: CutParts, boundary: number): Promise<void> {
  const { head, wal, catalogue, blocks, reads } = parts;
  await reads.drained();
  head.era++;
  const logged: Promise<unknown>[] = [];
  const segmentOpened = wal.cut();
  // At once: before any sample in the new segment that needs them.
  logged.push(...logDefinitions(head, wal));
  const segment = await segmentOpened;
  await parts.applied();
  head.beginMove(boundary);
  try {
    const checkpoint = new Checkpoint(segment);
    const flush = (least: number): void => {
      if (checkpoint.bytes >= least) {
        logged.push(appended(wal, checkpoint.take()));
      }
    };
    const block = await writeMoved(
      parts,
      boundary,
      (...kept) => {
        checkpoint.add(...kept);
        flush(partBytes);
      },
      // From its name on the block counts, with all that the log must hold beside it.
      async () => {
        flush(16);
        await Promise.all(logged);
        return { floor: segment, boundary };
      },
    );
    const also = (): void => {
      setState(catalogue.db, 'floor', segment);
      setState(catalogue.db, 'boundary', boundary);
    };
    if (block === undefined) {
      catalogue.db.transaction(also)();
    } else {
      catalogue.blocks.add(block, also);
    }
  } catch (error) {
    await Promise.allSettled(logged);
    head.restore();
    throw error;
  }
  blocks.refresh();
  reads.publish();
  await reads.drained();
  head.release();
  reads.released();
  head.removeIdle();
  await wal.drop(segment);
}

/**
 * Logs every series of the head, for a log that is about to lose the segments that defined them.
 */
function logDefinitions(head: Head, wal: Wal): Promise<unknown>[] {
  const logged: Promise<unknown>[] = [];
  let batch = new Batch();
  let bytes = 0;
  const flush = (): void => {
    if (!batch.empty) {
      logged.push(appended(wal, ...batch.record()));
    }
    batch = new Batch();
    bytes = 0;
  };
  const raw = new Scratch();
  const owned = new Map<number, number[]>();
  for (const slot of head.index.liveSlots()) {
    const owner = head.owners.of(slot);
    (owned.get(owner) ?? owned.set(owner, []).get(owner)!).push(head.ref(slot));
    writeRawLabels(raw.reset(), head.index.labels(slot));
    batch.define(-1, head.ref(slot), raw.bytes, 0, raw.at);
    bytes += raw.at;
    if (bytes > partBytes) {
      flush();
    }
  }
  flush();
  owned.delete(nobody);
  owned.forEach((refs, owner) =>
    logged.push(appended(wal, ownerRecord(head.owners.sender(owner), refs))),
  );
  return logged;
}

function appended(wal: Wal, ...parts: readonly Uint8Array[]): Promise<unknown> {
  const done = wal.append(...parts);
  // Looked at when all are awaited; this one must not count as unhandled until then.
  done.catch(() => undefined);
  return done;
}

/**
 * Spills the head while the log is replayed: moves everything before `boundary` into a block, and
 * leaves the log unchanged. After a crash it is moved again without effect: of samples with the
 * same time one is read.
 */
export async function spillHead(
  parts: Pick<CutParts, 'head' | 'catalogue' | 'now'>,
  boundary: number,
): Promise<void> {
  const { head, catalogue } = parts;
  head.beginMove(boundary);
  try {
    const block = await writeMoved(parts, boundary, () => undefined);
    if (block !== undefined) {
      catalogue.blocks.add(block);
    }
  } catch (error) {
    head.restore();
    throw error;
  }
  head.release();
}

type Keep = (ref: number, samples: Samples, from: number, to: number) => void;

/**
 * Writes moved samples to a block; calls `keep` with what stays in the head, and `settled` before
 * the block gets its name. Undefined if nothing is moved.
 */
async function writeMoved(
  { head, catalogue, now }: Pick<CutParts, 'head' | 'catalogue' | 'now'>,
  boundary: number,
  keep: Keep,
  settled: () => Promise<CutPosition> = () => Promise.resolve({}),
): Promise<NewBlock | undefined> {
  const pause = budget({ timeoutMs: Infinity });
  const samples = new Samples();
  let description: BlockDescription | undefined;
  const name = nextBlockName(catalogue.db, 'raw');
  const written = await attemptBlock(catalogue.blocksFolder, name, async (writer) => {
    const builder = new BlockBuilder(writer);
    for (const slots of head.index.metricsInOrder()) {
      for (const [slot, labels] of inOrder(head, slots)) {
        head.samples.move(slot, samples.clear());
        const kept = samples.after(boundary - 1);
        if (kept > 0) {
          builder.add(labels, samples, 0, kept);
        }
        if (kept < samples.length) {
          keep(head.ref(slot), samples, kept, samples.length);
        }
        await pause.breathe();
      }
    }
    const position = await settled();
    builder.finish((found) => (description = describedRaw(found, now(), { position })));
    return description !== undefined;
  });
  return written === undefined || description === undefined
    ? undefined
    : rowFor(written, description);
}

function inOrder(head: Head, slots: readonly number[]): (readonly [number, Labels])[] {
  return slots
    .map((slot) => [slot, head.index.labels(slot)] as const)
    .sort(([, a], [, b]) => compareLabels(a, b));
}
