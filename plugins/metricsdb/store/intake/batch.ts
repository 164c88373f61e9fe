import { widened } from '../columns/late-samples.ts';
import { type Cursor, Scratch } from '../columns/scratch.ts';

/** Kind of a log record: its first byte. */
export const recordKinds = { batch: 1, checkpoint: 2, owner: 3, drop: 4 } as const;

const whole = 0;
const float = 1;
const marker = 2;
/**
 * Initial capacity, enough for most pushes of a host: hundreds of them may wait for the disk at the
 * same time.
 */
const startRoom = 32;

/** Samples of one push on their way into the head, and the log record that makes them last. Used again for the next push. */
export class Batch {
  slots = new Int32Array(startRoom);
  times = new Float64Array(startRoom);
  values = new Float64Array(startRoom);
  stale = new Uint8Array(startRoom);
  count = 0;
  readonly #definitions = new Scratch(256);
  /** Series that the record defines. */
  readonly defined: number[] = [];
  readonly #samples = new Scratch(512);
  #lastRef = 0;
  #lastTime = 0;

  clear(): this {
    this.count = 0;
    this.defined.length = 0;
    this.#definitions.reset();
    this.#samples.reset();
    this.#lastRef = 0;
    this.#lastTime = 0;
    return this;
  }

  /** Memory use in bytes. */
  get bytes(): number {
    return this.slots.length * 21 + this.#definitions.bytes.length + this.#samples.bytes.length;
  }

  get empty(): boolean {
    return this.count === 0 && this.defined.length === 0;
  }

  /** Defines `ref` in the log. */
  define(slot: number, ref: number, rawLabels: Uint8Array, from: number, to: number): void {
    this.#definitions.uvarint(ref);
    this.#definitions.uvarint(to - from);
    this.#definitions.put(rawLabels, from, to);
    this.defined.push(slot);
  }

  /**
   * Takes the sample whose time and value the caller has put at `count` of `times` and `values`, after `reserve`. Numbers do
   * not travel as arguments here: each would be an object on the heap.
   */
  add(slot: number, ref: number, stale: boolean): void {
    const at = this.count++;
    this.slots[at] = slot;
    this.stale[at] = stale ? 1 : 0;
    this.#log(at, ref, stale);
  }

  /** Reserves capacity for one more sample. */
  reserve(): void {
    if (this.count === this.slots.length) {
      const room = this.count * 2;
      this.slots = widened(this.slots, new Int32Array(room));
      this.times = widened(this.times, new Float64Array(room));
      this.values = widened(this.values, new Float64Array(room));
      this.stale = widened(this.stale, new Uint8Array(room));
    }
  }

  /** The record, in parts; good until the batch is cleared. */
  record(): readonly Uint8Array[] {
    const head = new Scratch(32);
    head.u8(recordKinds.batch);
    head.uvarint(this.defined.length);
    const middle = new Scratch(16);
    middle.uvarint(this.count);
    return [head.written(), this.#definitions.written(), middle.written(), this.#samples.written()];
  }

  #log(at: number, ref: number, stale: boolean): void {
    const out = this.#samples;
    out.ensure(32);
    const time = this.times[at]!;
    const value = this.values[at]!;
    const step = ref - this.#lastRef;
    const sameTime = time === this.#lastTime && this.count > 1;
    const kind = stale
      ? marker
      : value < 0x4000_0000 &&
          value > -0x4000_0000 &&
          Math.floor(value) === value &&
          (value !== 0 || 1 / value > 0)
        ? whole
        : float;
    out.uvarint((step < 0 ? -2 * step - 1 : 2 * step) * 8 + kind * 2 + (sameTime ? 0 : 1));
    if (!sameTime) {
      out.svarint(time - this.#lastTime);
    }
    if (kind === whole) {
      out.svarint(value);
    } else if (kind === float) {
      out.f64(value);
    }
    this.#lastRef = ref;
    this.#lastTime = time;
  }
}

export interface BatchReader {
  define(ref: number, rawLabels: Uint8Array): void;
  sample(ref: number, time: number, value: number, stale: boolean): void;
}

/** Reads what `record` wrote, behind the byte that tells its kind. */
export function readBatch(cursor: Cursor, reader: BatchReader): void {
  const defined = cursor.uvarint();
  for (let i = 0; i < defined; i++) {
    const ref = cursor.uvarint();
    reader.define(ref, cursor.take(cursor.uvarint()));
  }
  const count = cursor.uvarint();
  let ref = 0;
  let time = 0;
  for (let i = 0; i < count; i++) {
    const head = cursor.uvarint();
    const step = Math.floor(head / 8);
    ref += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
    if (head % 2 === 1) {
      time += cursor.svarint();
    }
    const kind = (head >>> 1) & 3;
    reader.sample(
      ref,
      time,
      kind === whole ? cursor.svarint() : kind === float ? cursor.f64() : 0,
      kind === marker,
    );
  }
}
