import { type Samples } from '../columns/samples.ts';
import { type Cursor, Scratch } from '../columns/scratch.ts';
import { TimeColumn } from '../columns/time-column.ts';
import { ValueColumn } from '../columns/value-column.ts';
import { recordKinds } from '../intake/batch.ts';

/** Max samples of one series; more are damage, and would not fit into memory. */
const maxSamples = 1 << 24;

/**
 * Copy for the log of what stays in the head when a cut moves the rest into a block, so that the
 * segments before the cut can go. Valid only if that cut completed: otherwise those segments still
 * exist, and hold everything.
 */
export class Checkpoint {
  readonly #segment: number;
  readonly #out = new Scratch(64 * 1_024);
  readonly #times = new TimeColumn();
  readonly #values = new ValueColumn();

  constructor(segment: number) {
    this.#segment = segment;
    this.#begin();
  }

  get bytes(): number {
    return this.#out.at;
  }

  /** Adds the samples `[from, to)` of a series, at least one. */
  add(ref: number, samples: Samples, from: number, to: number): void {
    const out = this.#out;
    out.uvarint(ref);
    this.#times.write(out, samples.times, from, to, 0);
    const marks = samples.anyStale
      ? [...samples.stale.subarray(from, to).entries()]
          .filter(([, is]) => is === 1)
          .map(([index]) => index)
      : [];
    out.uvarint(marks.length);
    marks.forEach((index) => out.uvarint(index));
    const length = out.at;
    // Space for the length of what follows, which is only known then.
    out.ensure(4);
    out.at += 4;
    this.#values.write(out, samples.values, from, to);
    out.view.setUint32(length, out.at - length - 4);
  }

  /** The record so far; the next one begins. */
  take(): Uint8Array {
    const record = this.#out.copied();
    this.#begin();
    return record;
  }

  #begin(): void {
    this.#out.reset();
    this.#out.u8(recordKinds.checkpoint);
    this.#out.uvarint(this.#segment);
  }
}

/** Reads a record, behind the byte that tells its kind; `each` gets a series and its samples, which are used again. */
export function readCheckpoint(
  cursor: Cursor,
  floor: number,
  samples: Samples,
  each: (ref: number) => void,
): void {
  if (cursor.uvarint() > floor) {
    return;
  }
  const times = new TimeColumn();
  const values = new ValueColumn();
  while (cursor.at < cursor.end) {
    const ref = cursor.uvarint();
    samples.clear();
    const count = times.count(cursor.bytes, cursor.at, cursor.end);
    if (count > maxSamples) {
      throw new RangeError(`a checkpoint names ${count} samples of one series`);
    }
    samples.reserve(count);
    cursor.at = times.read(cursor.bytes, cursor.at, cursor.end, 0, samples.times, 0);
    for (let left = cursor.uvarint(); left > 0; left--) {
      samples.mark(cursor.uvarint());
    }
    const length = cursor.u32be();
    values.read(cursor.bytes, cursor.at, cursor.at + length, samples.values, 0, count);
    cursor.at += length;
    samples.length = count;
    each(ref);
  }
}
