import type { Wal } from 'svc/store';

import { nobody } from '../head/stream-owners.ts';
import type { StreamTable } from '../head/stream-table.ts';
import type { Batch } from '../lines/batch.ts';
import { decodeRecord, encodeRecord } from '../lines/record.ts';

export interface IntakeParts {
  readonly wal: Wal;
  readonly streams: StreamTable;
  readonly now: () => number;
  /** Called with every stored batch, after it is on disk. */
  readonly kept: (batch: Batch) => void;
}

/** Batches on their way to the heads: on disk first, then in memory, always in the order of their numbers. */
export class Intake {
  readonly #parts: IntakeParts;
  #number = 0;
  #last: Promise<void> = Promise.resolve();
  /** Segments that may contain batches in progress, by number. */
  readonly #underWay = new Map<number, number>();
  /** The first record of each segment that is still there. */
  readonly #firstRecords = new Map<number, number>();
  pendingBytes = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** No record below this one is in the log any more. */
  get floorRecord(): number {
    return Math.min(this.#number + 1, ...this.#firstRecords.values());
  }

  /** The oldest segment that is still there. */
  get oldestSegment(): number {
    return Math.min(Infinity, ...this.#firstRecords.keys());
  }

  /** First segment that may contain a batch in progress. */
  get floor(): number {
    return Math.min(Infinity, ...this.#underWay.values());
  }

  /** Resolves when the batch is on disk and visible. */
  async keep(batch: Batch, owner = nobody): Promise<void> {
    const { wal } = this.#parts;
    const number = ++this.#number;
    const before = this.#last;
    let settle!: () => void;
    this.#last = new Promise((resolve) => (settle = resolve));
    this.#underWay.set(number, wal.segment);
    this.pendingBytes += batch.used;
    try {
      const segment = await wal.append(...encodeRecord({ number, batch }));
      // A later record must not be cut before an earlier one is here: after a crash the earlier one would count as cut, too.
      await before;
      this.#apply(batch, number, segment, owner);
      this.#parts.kept(batch);
    } finally {
      this.pendingBytes -= batch.used;
      this.#underWay.delete(number);
      settle();
    }
  }

  /** Restores what a record contains and blocks do not. */
  replay(record: Buffer, segment: number): void {
    const { number, batch } = decodeRecord(record);
    this.startAfter(number);
    this.#apply(batch, number, segment, nobody);
  }

  startAfter(number: number): void {
    this.#number = Math.max(this.#number, number);
  }

  dropped(below: number): void {
    for (const segment of [...this.#firstRecords.keys()]) {
      if (segment < below) {
        this.#firstRecords.delete(segment);
      }
    }
  }

  #apply(batch: Batch, number: number, segment: number, owner: number): void {
    const { streams, now } = this.#parts;
    if (!this.#firstRecords.has(segment)) {
      this.#firstRecords.set(segment, number);
    }
    const time = now();
    for (const part of batch.parts) {
      const stream = streams.of(part.labels, owner);
      if (number <= stream.cutRecord || part.from === part.to) {
        continue;
      }
      const head = streams.headOf(stream);
      if (head.count === 0) {
        head.firstSegment = segment;
        head.bornAt = time;
      }
      const before = head.bytes;
      head.append(batch, part);
      head.touchedAt = time;
      head.lastRecord = number;
      streams.headBytes += head.bytes - before;
      streams.grown.add(stream);
    }
  }
}
