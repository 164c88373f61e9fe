import { type Logger, messageOf } from 'svc/sdk';
import { labelsOf } from 'svc/query';
import { type Catalogue, type Wal } from 'svc/store';

import { Samples } from '../columns/samples.ts';
import { Cursor, cutShort } from '../columns/scratch.ts';
import { matchersOf, type Selection } from '../columns/selection.ts';
import { type Head } from '../head/head.ts';
import { nobody } from '../head/series-owners.ts';
import { readBatch, recordKinds } from '../intake/batch.ts';
import { readDrop } from '../intake/drop-record.ts';
import { readOwners } from '../intake/owner-record.ts';
import { readRawLabels } from '../intake/raw-labels.ts';
import { spillHead } from './cut.ts';
import { type MetricsLimits } from './limits.ts';
import { readCheckpoint } from './wal-checkpoint.ts';

export interface Replayed {
  readonly samples: number;
  readonly records: number;
  /** Samples whose series the log no longer tells of: what a damaged record held. */
  readonly unknown: number;
}

/**
 * Restores everything in the log to an empty head. `floor`: segments below it were completed by a
 * cut; `dropped` is told what was dropped when all before it had been read.
 */
export async function replay(
  wal: Wal,
  head: Head,
  floor: number,
  log: Logger,
  spill: HeadSpill,
  dropped: (selection: Selection) => void,
): Promise<Replayed> {
  const slots = new Map<number, number>();
  const samples = new Samples();
  const counts = { samples: 0, records: 0, unknown: 0 };

  function define(ref: number, raw: Uint8Array): void {
    const pairs = readRawLabels(raw, 0, raw.length);
    if (pairs === undefined) {
      throw cutShort();
    }
    const labels = labelsOf(pairs);
    const known = head.index.find(labels);
    const slot = known === -1 ? head.add(labels, nobody, ref) : known;
    head.settled(slot);
    slots.set(ref, slot);
  }

  let lastRef = -1;
  let lastSlot = -1;
  function sample(ref: number, time: number, value: number, stale: boolean): void {
    if (ref !== lastRef) {
      lastRef = ref;
      lastSlot = slots.get(ref) ?? -1;
    }
    if (lastSlot === -1) {
      counts.unknown++;
      return;
    }
    // It was taken once, under the window of that time.
    head.append(lastSlot, time, value, stale, Infinity);
    counts.samples++;
  }

  const { tornBytes } = await wal.replay((record) => {
    const cursor = new Cursor(record);
    const kind = cursor.u8();
    if (kind === recordKinds.batch) {
      lastRef = -1;
      readBatch(cursor, { define, sample });
    } else if (kind === recordKinds.checkpoint) {
      readCheckpoint(cursor, floor, samples, (ref) => {
        const slot = slots.get(ref);
        if (slot === undefined) {
          counts.unknown += samples.length;
          return;
        }
        counts.samples += samples.length;
        head.merge(slot, samples);
      });
    }
    if (kind === recordKinds.owner) {
      replayOwners(cursor, head, slots);
    } else if (kind === recordKinds.drop) {
      dropped(replayDrop(cursor, head, slots));
    }
    counts.records++;
    return spill.ifFull();
  });
  if (tornBytes > 0 || counts.unknown > 0) {
    log.warn(
      { event: 'metricsdb.wal_incomplete', tornBytes, unknown: counts.unknown },
      'metrics WAL ended with an unfinished write or is missing series definitions; restored everything acknowledged before that point',
    );
  }
  return counts;
}

function replayOwners(cursor: Cursor, head: Head, slots: ReadonlyMap<number, number>): void {
  readOwners(cursor, (sender, ref) => {
    const slot = slots.get(ref);
    if (slot !== undefined) {
      head.owners.give(slot, head.owners.number(sender));
    }
  });
}

/** Drops what earlier records held of a selection, and returns it. */
function replayDrop(cursor: Cursor, head: Head, slots: Map<number, number>): Selection {
  const selection = readDrop(cursor);
  const gone = head.drop(matchersOf(selection), selection);
  slots.forEach((slot, ref) => gone.has(slot) && slots.delete(ref));
  return selection;
}

interface HeadSpillParts {
  readonly head: Head;
  readonly catalogue: Catalogue;
  readonly limits: Pick<MetricsLimits, 'headBytes' | 'outOfOrderMs'>;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Spill of the head into blocks during a replay: what was accepted under larger limits, or while no
 * block could be written, must not fill the memory.
 */
export class HeadSpill {
  readonly #parts: HeadSpillParts;
  #maxBytes: number;

  constructor(parts: HeadSpillParts) {
    this.#parts = parts;
    this.#maxBytes = parts.limits.headBytes;
  }

  ifFull(): Promise<void> | undefined {
    const { head, limits } = this.#parts;
    const boundary = head.maxTime - limits.outOfOrderMs;
    return head.samples.chunks.bytes > this.#maxBytes && head.minTime < boundary
      ? this.#spill(boundary)
      : undefined;
  }

  async #spill(boundary: number): Promise<void> {
    const { head, catalogue, limits, now, log } = this.#parts;
    try {
      await spillHead({ head, catalogue, now }, boundary);
    } catch (error) {
      log.error(
        { event: 'metricsdb.replay_spill_failed', cause: messageOf(error) },
        'failed to write the metrics head to a block during replay; replaying in memory; free some disk space',
      );
    }
    this.#maxBytes = Math.max(limits.headBytes, head.samples.chunks.bytes * 1.25);
  }
}
