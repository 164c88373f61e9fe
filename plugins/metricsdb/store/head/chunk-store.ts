import { type Samples } from '../columns/samples.ts';
import { Scratch } from '../columns/scratch.ts';
import { TimeColumn } from '../columns/time-column.ts';
import { ValueColumn } from '../columns/value-column.ts';

const slabBits = 20;
const slabSize = 1 << slabBits;
/** Size of a chunk's header: its predecessor, its last time, its length. */
const headerSize = 14;
/** Max samples of a chunk: each has a bit that says whether it is a staleness marker. */
const maxSamples = 32;
/** Points at no chunk. */
export const nowhere = 0xffff_ffff;

/**
 * Compressed runs of samples of the head, each pointing at the one before it of the same series. They lie in slabs of one
 * generation after the other: a cut frees a generation at once, so nothing here is moved or freed singly.
 */
export class ChunkStore {
  readonly #slabs: (Uint8Array | undefined)[] = [];
  readonly #views: (DataView | undefined)[] = [];
  #current = -1;
  #at = slabSize;
  readonly #times = new TimeColumn();
  readonly #columns = new ValueColumn();
  readonly #scratch = new Scratch();
  readonly #spare = new Float64Array(maxSamples);
  bytes = 0;

  /** Stores samples, at most 32 and ascending, behind `before`; answers with where. */
  put(
    before: number,
    times: Float64Array | Int32Array,
    values: Float64Array,
    from: number,
    to: number,
    base: number,
    marks: number,
  ): number {
    const lastTime = times[to - 1]! + base;
    const out = this.#scratch.reset();
    this.#times.write(out, times, from, to, lastTime - base);
    out.u8(marks === 0 ? 0 : 1);
    if (marks === 0) {
      this.#columns.write(out, values, from, to);
    } else {
      out.ensure(4);
      out.view.setUint32(out.at, marks);
      out.at += 4;
      this.#columns.write(out, this.#withoutMarkers(values, from, to, marks), 0, to - from);
    }
    return this.#place(before, lastTime, out.written());
  }

  previous(chunk: number): number {
    return this.#views[chunk >>> slabBits]!.getUint32(chunk & (slabSize - 1));
  }

  /** Puts a chunk behind another, which had none before it. */
  link(chunk: number, before: number): void {
    this.#views[chunk >>> slabBits]!.setUint32(chunk & (slabSize - 1), before);
  }

  lastTime(chunk: number): number {
    return this.#views[chunk >>> slabBits]!.getFloat64((chunk & (slabSize - 1)) + 4);
  }

  /** Appends the samples of one chunk. */
  read(chunk: number, into: Samples): void {
    const slab = this.#slabs[chunk >>> slabBits]!;
    const view = this.#views[chunk >>> slabBits]!;
    const at = chunk & (slabSize - 1);
    const begin = at + headerSize;
    const end = begin + view.getUint16(at + 12);
    const count = this.#times.count(slab, begin, end);
    into.reserve(count);
    let next = this.#times.read(slab, begin, end, view.getFloat64(at + 4), into.times, into.length);
    if (slab[next++] === 1) {
      const marks = view.getUint32(next);
      for (let i = 0; i < count; i++) {
        if ((marks >>> i) & 1) {
          into.mark(into.length + i);
        }
      }
      next += 4;
    }
    if (into.valued) {
      this.#columns.read(slab, next, end, into.values, into.length, count);
    }
    into.length += count;
  }

  /** Hangs an older chain behind a newer one. */
  linked(newer: number, older: number): number {
    if (newer === nowhere) {
      return older;
    }
    let oldest = newer;
    while (this.previous(oldest) !== nowhere) {
      oldest = this.previous(oldest);
    }
    this.link(oldest, older);
    return newer;
  }

  /** Chunks of a chain that reach beyond `mint`, oldest first. */
  readChain(newest: number, mint: number, into: Samples): void {
    if (newest === nowhere || this.lastTime(newest) <= mint) {
      return;
    }
    const path: number[] = [];
    for (
      let chunk = newest;
      chunk !== nowhere && this.lastTime(chunk) > mint;
      chunk = this.previous(chunk)
    ) {
      path.push(chunk);
    }
    for (let i = path.length - 1; i >= 0; i--) {
      this.read(path[i]!, into);
    }
  }

  /**
   * Ends a generation: later chunks are in other slabs. Returns a function that frees all earlier
   * ones.
   */
  seal(): () => void {
    const sealed = [...this.#slabs.keys()].filter((index) => this.#slabs[index] !== undefined);
    this.#current = -1;
    this.#at = slabSize;
    return () => {
      for (const index of sealed) {
        this.#slabs[index] = undefined;
        this.#views[index] = undefined;
        this.bytes -= slabSize;
      }
    };
  }

  #place(before: number, lastTime: number, content: Uint8Array): number {
    if (this.#at + headerSize + content.length > slabSize) {
      this.#addSlab();
    }
    const at = this.#at;
    const current = this.#current;
    const view = this.#views[current]!;
    view.setUint32(at, before);
    view.setFloat64(at + 4, lastTime);
    view.setUint16(at + 12, content.length);
    this.#slabs[current]!.set(content, at + headerSize);
    this.#at += headerSize + content.length;
    return ((current << slabBits) | at) >>> 0;
  }

  #addSlab(): void {
    const free = this.#slabs.indexOf(undefined);
    this.#current = free === -1 ? this.#slabs.length : free;
    const slab = new Uint8Array(slabSize);
    this.#slabs[this.#current] = slab;
    this.#views[this.#current] = new DataView(slab.buffer);
    this.#at = 0;
    this.bytes += slabSize;
  }

  /** Markers repeat the value before them, so that they do not spoil the compression of real ones. */
  #withoutMarkers(values: Float64Array, from: number, to: number, marks: number): Float64Array {
    const spare = this.#spare;
    let before = 0;
    for (let i = from; i < to; i++) {
      if (((marks >>> (i - from)) & 1) === 0) {
        before = values[i]!;
      }
      spare[i - from] = before;
    }
    return spare;
  }
}
