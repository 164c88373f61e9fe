import { LateSamples, widened } from '../columns/late-samples.ts';
import { type Samples } from '../columns/samples.ts';
import { ChunkStore, nowhere } from './chunk-store.ts';
import { MovedSamples } from './moved-samples.ts';

/**
 * Bits for the uncompressed newest samples of a series: as many as a number has bits to mark the
 * stale ones. They are half of the memory of a new series; twice as many would make the chunks
 * smaller by 8 %.
 */
const ringBits = 5;
const ringSize = 1 << ringBits;
const stripeBits = 10;
const stripeSize = 1 << stripeBits;
/** Times in a ring are kept as 32-bit distances from its first. */
const farthest = 2 ** 31 - 1;

export type Verdict = 'kept' | 'repeated' | 'contradicts' | 'too old';

/**
 * The samples of the head, by slot: a ring of the newest ones of each series in shared typed arrays, older ones in
 * compressed chunks, late ones aside. No object per series.
 */
export class HeadSamples {
  readonly chunks = new ChunkStore();
  readonly late = new LateSamples();
  readonly #rings: { readonly times: Int32Array; readonly values: Float64Array }[] = [];
  #lastTimes = new Float64Array(stripeSize);
  #bases = new Float64Array(stripeSize);
  #counts = new Uint8Array(stripeSize);
  /** A bit for each sample of a ring. */
  #stale = new Uint32Array(stripeSize);
  #chain = new Uint32Array(stripeSize);
  #lateList = new Int32Array(stripeSize);
  #moved: MovedSamples | undefined;

  get bytes(): number {
    return (
      this.chunks.bytes +
      this.#rings.length * stripeSize * (ringSize * 12 + 29) +
      this.late.count * 21
    );
  }

  /** Makes a slot ready for a new series. */
  begin(slot: number): void {
    if (slot >= this.#rings.length * stripeSize) {
      this.#addStripe();
    }
    this.#lastTimes[slot] = -Infinity;
    this.#counts[slot] = 0;
    this.#stale[slot] = 0;
    this.#chain[slot] = nowhere;
    this.#lateList[slot] = -1;
  }

  lastTime(slot: number): number {
    return this.#lastTimes[slot]!;
  }

  /** Returns whether the newest sample is a staleness marker. */
  ended(slot: number): boolean {
    const last = this.#counts[slot]! - 1;
    return last >= 0 && this.#isStale(slot, last);
  }

  lastValue(slot: number): number {
    return this.#rings[slot >> stripeBits]!.values[
      ((slot & (stripeSize - 1)) << ringBits) + this.#counts[slot]! - 1
    ]!;
  }

  empty(slot: number): boolean {
    return this.#counts[slot] === 0 && this.#chain[slot] === nowhere && this.#lateList[slot] === -1;
  }

  /** Returns what would happen to a sample: the ordering rule, which `append` follows. */
  verdict(slot: number, time: number, value: number, stale: boolean, window: number): Verdict {
    const last = this.#lastTimes[slot]!;
    if (time > last) {
      return 'kept';
    }
    if (time < last - window) {
      return 'too old';
    }
    return this.#against(slot, time, value, stale);
  }

  append(slot: number, time: number, value: number, stale: boolean, window: number): Verdict {
    const last = this.#lastTimes[slot]!;
    if (time > last) {
      this.#push(slot, time, value, stale);
      return 'kept';
    }
    const verdict = this.verdict(slot, time, value, stale, window);
    if (verdict === 'kept') {
      this.#lateList[slot] = this.late.add(this.#lateList[slot]!, time, value, stale);
    }
    return verdict;
  }

  /** Appends the samples in (mint, maxt] and some around them, in no certain order; `withMoved` also those that are on their way into a block. */
  read(slot: number, mint: number, maxt: number, into: Samples, withMoved: boolean): void {
    if (withMoved) {
      this.#moved?.read(slot, mint, into);
    }
    const count = this.#counts[slot]!;
    const base = this.#bases[slot]!;
    // The ring begins where the chunks end.
    if (count === 0 || base > mint) {
      this.chunks.readChain(this.#chain[slot]!, mint, into);
    }
    if (count > 0 && base <= maxt) {
      const ring = this.#rings[slot >> stripeBits]!;
      const begin = (slot & (stripeSize - 1)) << ringBits;
      into.reserve(count);
      const { times, values } = into;
      const marked = this.#stale[slot] !== 0;
      let at = into.length;
      for (let i = firstLater(ring.times, begin, count, mint - base); i < count; i++, at++) {
        times[at] = ring.times[begin + i]! + base;
        values[at] = ring.values[begin + i]!;
        if (marked && this.#isStale(slot, i)) {
          into.mark(at);
        }
      }
      into.length = at;
    }
    if (this.#lateList[slot] !== -1) {
      this.late.read(this.#lateList[slot]!, Infinity, into);
    }
  }

  /** Appends the newest sample, and nothing if it is not later than `mint`; false where that takes more than a look at the ring. */
  newest(slot: number, mint: number, maxt: number, into: Samples): boolean {
    const last = this.#counts[slot]! - 1;
    if (last < 0) {
      return false;
    }
    const ring = this.#rings[slot >> stripeBits]!;
    const at = ((slot & (stripeSize - 1)) << ringBits) + last;
    const time = ring.times[at]! + this.#bases[slot]!;
    if (time > maxt || time !== this.#lastTimes[slot]) {
      return false;
    }
    if (time > mint) {
      into.push(time, ring.values[at]!, this.#isStale(slot, last));
    }
    return true;
  }

  /**
   * Starts moving everything before `boundary` out. What was moved stays readable until it is
   * released.
   */
  beginMove(boundary: number): void {
    this.#moved = new MovedSamples(boundary, this.#counts.length, this.chunks, this.late);
  }

  /** Moves a slot: all its samples, ordered, into `into`; those from the boundary on are kept, too. */
  move(slot: number, into: Samples): void {
    const moved = this.#moved!;
    this.#flush(slot);
    moved.take(slot, this.#chain[slot]!, this.#lateList[slot]!, into);
    this.#refill(slot, into.settle(), into.after(moved.boundary - 1));
  }

  /** Frees moved samples, which are in a block by now. */
  release(): void {
    this.#moved!.release();
    this.#moved = undefined;
  }

  /** Restores what was moved, since it could not be put into a block. */
  restore(): void {
    this.#moved!.each((slot, chain, late) => {
      this.#chain[slot] = this.chunks.linked(this.#chain[slot]!, chain);
      this.#lateList[slot] = this.late.join(this.#lateList[slot]!, late);
    });
    this.#moved = undefined;
  }

  /**
   * Adds samples to a slot in order of time, ignoring the ordering rule: replays what was accepted
   * before.
   */
  merge(slot: number, samples: Samples): void {
    if (!this.empty(slot)) {
      this.read(slot, -Infinity, Infinity, samples, false);
      this.late.drop(this.#lateList[slot]!);
    }
    this.#counts[slot] = 0;
    this.#stale[slot] = 0;
    this.#refill(slot, samples.settle(), 0);
  }

  /** Replaces all samples of a slot by these, settled ones; what was accepted stays accepted. */
  replace(slot: number, samples: Samples): void {
    this.clear(slot);
    this.#refill(slot, samples, 0);
  }

  /** Drops all samples of a slot; the memory of its chunks is freed by the next cut. */
  clear(slot: number): void {
    this.late.drop(this.#lateList[slot]!);
    this.#lateList[slot] = -1;
    this.#chain[slot] = nowhere;
    this.#counts[slot] = 0;
    this.#stale[slot] = 0;
  }

  /** Makes the samples from an index on all that a slot holds. */
  #refill(slot: number, samples: Samples, from: number): void {
    const last = this.#lastTimes[slot]!;
    this.#chain[slot] = nowhere;
    this.#lateList[slot] = -1;
    for (let i = from; i < samples.length; i++) {
      this.#push(slot, samples.times[i]!, samples.values[i]!, samples.stale[i] === 1);
    }
    this.#lastTimes[slot] = Math.max(last, this.#lastTimes[slot]!);
  }

  #push(slot: number, time: number, value: number, stale: boolean): void {
    let count = this.#counts[slot]!;
    if (count === ringSize || (count > 0 && time - this.#bases[slot]! > farthest)) {
      this.#flush(slot);
      count = 0;
    }
    if (count === 0) {
      this.#bases[slot] = time;
    }
    const ring = this.#rings[slot >> stripeBits]!;
    const at = ((slot & (stripeSize - 1)) << ringBits) + count;
    ring.times[at] = time - this.#bases[slot]!;
    ring.values[at] = value;
    if (stale) {
      this.#stale[slot]! |= 1 << count;
    }
    this.#counts[slot] = count + 1;
    this.#lastTimes[slot] = time;
  }

  /** Compresses the ring of a slot into a chunk. */
  #flush(slot: number): void {
    const count = this.#counts[slot]!;
    if (count === 0) {
      return;
    }
    const ring = this.#rings[slot >> stripeBits]!;
    const begin = (slot & (stripeSize - 1)) << ringBits;
    this.#chain[slot] = this.chunks.put(
      this.#chain[slot]!,
      ring.times,
      ring.values,
      begin,
      begin + count,
      this.#bases[slot]!,
      this.#stale[slot]!,
    );
    this.#counts[slot] = 0;
    this.#stale[slot] = 0;
  }

  /** A time that is not later than the newest: compared with the ring, where one of the same time would be. */
  #against(slot: number, time: number, value: number, stale: boolean): Verdict {
    const ring = this.#rings[slot >> stripeBits]!;
    const begin = (slot & (stripeSize - 1)) << ringBits;
    const distance = time - this.#bases[slot]!;
    for (let i = this.#counts[slot]! - 1; i >= 0 && ring.times[begin + i]! >= distance; i--) {
      if (ring.times[begin + i] === distance) {
        const same =
          this.#isStale(slot, i) === stale && (stale || Object.is(ring.values[begin + i], value));
        return same ? 'repeated' : 'contradicts';
      }
    }
    return 'kept';
  }

  #isStale(slot: number, index: number): boolean {
    return ((this.#stale[slot]! >>> index) & 1) === 1;
  }

  #addStripe(): void {
    this.#rings.push({
      times: new Int32Array(stripeSize * ringSize),
      values: new Float64Array(stripeSize * ringSize),
    });
    const size = this.#rings.length * stripeSize;
    if (size > this.#counts.length) {
      const room = size * 2;
      this.#lastTimes = widened(this.#lastTimes, new Float64Array(room));
      this.#bases = widened(this.#bases, new Float64Array(room));
      this.#counts = widened(this.#counts, new Uint8Array(room));
      this.#stale = widened(this.#stale, new Uint32Array(room));
      this.#chain = widened(this.#chain, new Uint32Array(room));
      this.#lateList = widened(this.#lateList, new Int32Array(room));
    }
  }
}

/** The first of `count` ascending times from `begin` on that is later than `time`. */
function firstLater(times: Int32Array, begin: number, count: number, time: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[begin + middle]! <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
