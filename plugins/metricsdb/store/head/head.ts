import type { Stamp } from 'svc/contracts/metricsdb';
import { type Labels, labelValue, type Matcher, metricName } from 'svc/query';

import { widened } from '../columns/late-samples.ts';
import { Samples } from '../columns/samples.ts';
import { outside, type Selection } from '../columns/selection.ts';
import { HeadIndex } from './head-index.ts';
import { HeadSamples, type Verdict } from './head-samples.ts';
import { KeyTable } from './key-table.ts';
import { nobody, SeriesOwners } from './series-owners.ts';

/** Salts of one stamp: raw labels, and each format that writes labels in its own way. */
const saltsPerStamp = 4;
const maxStamps = 100_000;
/** Marker of series that the log defines permanently. */
const known = 0xffff_ffff;

/** All that is newer than the blocks: series by slot, how to find them by what senders write, and their samples. */
export class Head {
  readonly deltas = new DeltaSums();
  readonly index: HeadIndex;
  readonly samples = new HeadSamples();
  readonly owners = new SeriesOwners();
  readonly #seed: number;
  /** Cache of series by raw key; a missing entry is found by its labels and added again. */
  #keys: KeyTable;
  readonly #window: number;
  readonly #maxKeys: number;
  readonly #maxKeyBytes: number;
  #refs = new Float64Array(1_024);
  #nextRef = 1;
  #definedIn = new Uint32Array(1_024);
  #usedAt = new Uint32Array(1_024);
  #nextBatch = 1;
  readonly #unstored = new Map<number, number>();
  readonly #stamps = new Map<string, number>();
  #nextStamp = 1;
  /** Number of cuts: what was used since the last one began is not removed by it. */
  era = 1;
  /** True if series were refused by a limit since the last cut. */
  refusing = false;
  /** The latest time of any sample. */
  maxTime = -Infinity;
  minTime = Infinity;
  /** No sample may be later than this at the moment. */
  latest = Infinity;
  #movedMinTime = Infinity;

  constructor(options: {
    readonly seed: number;
    readonly window: number;
    readonly maxSeries: number;
    readonly maxLabelBytes?: number;
  }) {
    this.#seed = options.seed;
    this.index = new HeadIndex(this.#seed);
    this.#keys = new KeyTable(this.#seed);
    this.#window = options.window;
    this.#maxKeys = options.maxSeries * 2 + 10_000;
    this.#maxKeyBytes = (options.maxLabelBytes ?? Infinity) / 2;
  }

  /** Approximate total memory. */
  get bytes(): number {
    return this.#keys.bytes + this.index.bytes + this.samples.bytes;
  }

  /** Size of the labels of all series, including the spellings that senders use. */
  get labelBytes(): number {
    return this.index.labelBytes + this.#keys.keyBytes;
  }

  /** The series that a sender wrote in this way before; -1 when that is news. */
  find(bytes: Uint8Array, from: number, to: number, salt: number): number {
    return this.#keys.find(bytes, from, to, salt);
  }

  /** Lets a sender's own way to write labels lead to a series. */
  alias(bytes: Uint8Array, from: number, to: number, salt: number, slot: number): void {
    if (this.#keys.find(bytes, from, to, salt) !== -1) {
      return;
    }
    if (this.#keys.size >= this.#maxKeys || this.#keys.keyBytes + to - from > this.#maxKeyBytes) {
      this.#keys = new KeyTable(this.#seed);
    }
    this.#keys.add(bytes, from, to, salt, slot);
  }

  /** Adds a series that `index.find` did not find, sent by `owner` if that is known. */
  add(labels: Labels, owner = nobody, ref = this.#nextRef): number {
    const before = this.index.labelBytes;
    const slot = this.index.add(labels);
    const weight = this.index.labelBytes - before + spelled(labels);
    this.owners.add(slot, owner, labelValue(labels, metricName), weight);
    if (slot >= this.#refs.length) {
      this.#refs = widened(this.#refs, new Float64Array(slot * 2));
      this.#definedIn = widened(this.#definedIn, new Uint32Array(slot * 2));
      this.#usedAt = widened(this.#usedAt, new Uint32Array(slot * 2));
    }
    this.samples.begin(slot);
    this.#refs[slot] = ref;
    this.#nextRef = Math.max(this.#nextRef, ref + 1);
    this.#definedIn[slot] = 0;
    // A series of the log belongs to whoever sends it on.
    this.#usedAt[slot] = owner === nobody ? 0 : this.era;
    return slot;
  }

  /** The number that the log knows a series by. */
  ref(slot: number): number {
    return this.#refs[slot]!;
  }

  nextBatchNumber(): number {
    return this.#nextBatch++;
  }

  /**
   * Notes that a batch of a sender uses a series; returns whether it must tell the log what the
   * series is.
   */
  use(slot: number, batch: number, owner: number): boolean {
    if (this.#usedAt[slot] !== this.era) {
      this.#usedAt[slot] = this.era;
      this.owners.give(slot, owner);
    }
    const defined = this.#definedIn[slot]!;
    if (defined === known || defined === batch) {
      return false;
    }
    this.#definedIn[slot] = batch;
    return true;
  }

  /**
   * Returns the acceptance window of a series. If its newest sample is from a future that the clock
   * has since taken back, the series restarts in the middle of its data.
   */
  #windowOf(slot: number): number {
    return this.samples.lastTime(slot) > this.latest ? Infinity : this.#window;
  }

  /** The log holds the definition on disk. */
  settled(slot: number): void {
    this.#definedIn[slot] = known;
  }

  verdict(slot: number, time: number, value: number, stale: boolean): Verdict {
    return this.samples.verdict(slot, time, value, stale, this.#windowOf(slot));
  }

  append(
    slot: number,
    time: number,
    value: number,
    stale: boolean,
    window = this.#windowOf(slot),
  ): Verdict {
    const verdict = this.samples.append(slot, time, value, stale, window);
    if (verdict === 'kept') {
      this.maxTime = time > this.maxTime ? time : this.maxTime;
      this.minTime = time < this.minTime ? time : this.minTime;
    }
    return verdict;
  }

  /** Adds samples that were accepted before, wherever they belong. */
  merge(slot: number, samples: Samples): void {
    this.samples.merge(slot, samples);
    this.maxTime = Math.max(this.maxTime, samples.times[samples.length - 1]!);
    this.minTime = Math.min(this.minTime, samples.times[0]!);
  }

  /** The salt under which the keys of a stamp are kept. */
  stampSalt(stamp: Stamp): number {
    if (stamp.device_id === undefined && stamp.edge_id === undefined) {
      return 0;
    }
    const text = JSON.stringify([stamp.device_id ?? null, stamp.edge_id ?? null]);
    let id = this.#stamps.get(text);
    if (id === undefined) {
      if (this.#stamps.size >= maxStamps) {
        this.#stamps.clear();
        this.#keys = new KeyTable(this.#seed);
      }
      id = this.#nextStamp++;
      this.#stamps.set(text, id);
    }
    return id * saltsPerStamp;
  }

  /** Returns whether there may be samples in (mint, maxt]. */
  touches(mint: number, maxt: number): boolean {
    return maxt >= Math.min(this.minTime, this.#movedMinTime) && mint <= this.maxTime;
  }

  beginMove(boundary: number): void {
    this.samples.beginMove(boundary);
    this.#movedMinTime = this.minTime;
    this.minTime = Math.max(boundary, this.minTime);
  }

  restore(): void {
    this.samples.restore();
    this.minTime = Math.min(this.minTime, this.#movedMinTime);
    this.#movedMinTime = Infinity;
  }

  release(): void {
    this.samples.release();
    this.#movedMinTime = Infinity;
  }

  /** Takes series away that hold no sample and were not used since this era began. */
  removeIdle(): number {
    const gone = new Set(
      this.index
        .liveSlots()
        .filter((slot) => this.samples.empty(slot) && this.#usedAt[slot]! < this.era),
    );
    this.#remove(gone);
    return gone.size;
  }

  /**
   * Drops the selected samples, and series that have none left, which stop counting at once. Returns
   * the slots of those. No batch may be on its way, and no cut.
   */
  drop(selectors: readonly (readonly Matcher[])[], selection: Selection): ReadonlySet<number> {
    const selected = new Set(selectors.flatMap((matchers) => this.index.matching(matchers)));
    const [samples, rest] = [new Samples(), new Samples()];
    const gone = new Set<number>();
    for (const slot of selected) {
      this.samples.read(slot, -Infinity, Infinity, samples.clear(), false);
      outside(selection, samples.settle(), rest);
      if (rest.length === 0) {
        this.samples.clear(slot);
        gone.add(slot);
      } else if (rest.length < samples.length) {
        this.samples.replace(slot, rest);
      }
    }
    this.#remove(gone);
    return gone;
  }

  /** Notes series that a batch began and did not store: no sample of them may ever come. */
  unstored(slots: readonly number[], batch: number): void {
    slots.forEach((slot) => this.#unstored.set(slot, batch));
  }

  /** Removes the series that batches left without a sample, unless another batch used them. */
  removeUnstored(): void {
    const gone = [...this.#unstored].filter(
      ([slot, batch]) =>
        this.index.isLive(slot) && this.samples.empty(slot) && this.#definedIn[slot] === batch,
    );
    this.#unstored.clear();
    this.#remove(new Set(gone.map(([slot]) => slot)));
  }

  #remove(gone: ReadonlySet<number>): void {
    if (gone.size > 0) {
      this.#keys = this.#keys.filtered((slot) => !gone.has(slot));
      this.owners.remove(gone);
      this.index.remove(gone);
    }
  }
}

/** Size of labels as a sender writes them. */
function spelled(labels: Labels): number {
  let size = 0;
  for (const text of labels) {
    size += text.length + 4;
  }
  return size;
}

interface Running {
  readonly sum: number;
  readonly time: number;
}

/**
 * Max series remembered; the one that was idle longest restarts, which reads as a counter reset.
 */
const mostSeries = 100_000;

/** Running totals of series whose senders report only increments. */
class DeltaSums {
  readonly #sums = new Map<number, Running>();

  /** The sum with `delta`; undefined for a time that is in it already. `before`: what the store has of a series that is not remembered. */
  add(ref: number, time: number, delta: number, before: () => Running): number | undefined {
    const { sum, time: last } = this.#sums.get(ref) ?? before();
    if (time <= last) {
      return undefined;
    }
    this.#sums.delete(ref);
    this.#sums.set(ref, { sum: sum + delta, time });
    if (this.#sums.size > mostSeries) {
      this.#sums.delete(this.#sums.keys().next().value!);
    }
    return sum + delta;
  }

  /** Undoes an increment that did not reach the disk: the sender will send it again. */
  forget(ref: number): void {
    this.#sums.delete(ref);
  }
}
