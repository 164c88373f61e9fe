import { type Logger } from 'svc/sdk';
import { labelsOf } from 'svc/query';
import { type Wal } from 'svc/store';

import { readBatch, recordKinds } from './batch.ts';
import { type Head } from './head.ts';
import { readRawLabels } from './raw-labels.ts';
import { Samples } from './samples.ts';
import { Cursor, cutShort } from './scratch.ts';
import { readCheckpoint } from './wal-checkpoint.ts';

export interface Replayed {
  readonly samples: number;
  readonly records: number;
  /** Samples whose series the log no longer tells of: what a damaged record held. */
  readonly unknown: number;
}

/** Brings everything in the log back into an empty head. `floor`: segments below it were completed by a cut; `relieve` is called between records. */
export async function replay(wal: Wal, head: Head, floor: number, log: Logger, relieve: () => Promise<void> | undefined): Promise<Replayed> {
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
    const slot = known === -1 ? head.add(labels, ref) : known;
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
    counts.records++;
    return relieve();
  });
  if (tornBytes > 0 || counts.unknown > 0) {
    log.warn(
      { tornBytes, unknown: counts.unknown },
      'the log of metrics ended in the middle of a write, or lost definitions; everything acknowledged before is there',
    );
  }
  return counts;
}
