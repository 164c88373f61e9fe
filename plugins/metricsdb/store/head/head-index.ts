import { labelValue, metricName, type Labels, type Matcher } from 'svc/query';

import { widened } from '../columns/late-samples.ts';
import { mixed, settled } from '../columns/mixing.ts';
import { RowMatcher } from '../columns/row-matcher.ts';

const none: readonly number[] = [];

/** The labels of the series of the head, as pairs of symbols by slot: which slot has these labels, and which slots a metric has. */
export class HeadIndex {
  readonly #seed: number;
  #symbols: string[] = [];
  #bySymbol = new Map<string, number>();
  #pairs = new Uint32Array(4_096);
  #pairsUsed = 0;
  #pairsDead = 0;
  #starts = new Float64Array(1_024);
  #counts = new Uint16Array(1_024);
  readonly #metrics = new Map<string, number[]>();
  readonly #free: number[] = [];
  #generations = new Uint32Array(1_024);
  #hashes = new Uint32Array(1_024);
  /** Slots by their hashes, each one more than it is: 0 is an empty place. */
  #buckets = new Int32Array(4_096);
  #textBytes = 0;
  /** Slots that were ever used; those in use among them are `live`. */
  used = 0;
  live = 0;
  /** Number of times that a series came or went. */
  changes = 0;

  /** Takes a random seed, so that nobody can make series collide. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  get bytes(): number {
    return (
      this.#pairs.byteLength +
      this.#starts.length * 22 +
      this.#buckets.byteLength +
      this.#symbols.length * 100 +
      this.live * 8
    );
  }

  /** Size of the labels of all series. */
  get labelBytes(): number {
    return this.#textBytes + this.#pairsUsed * 4;
  }

  /** Returns the slot of the series with these sorted labels; -1 if there is none. */
  find(labels: Labels): number {
    let hash = this.#seed;
    for (const text of labels) {
      const symbol = this.#bySymbol.get(text);
      if (symbol === undefined) {
        return -1;
      }
      hash = mixed(hash, symbol);
    }
    hash = settled(hash);
    const mask = this.#buckets.length - 1;
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const slot = this.#buckets[bucket]! - 1;
      if (slot === -1 || (this.#hashes[slot] === hash && this.#has(slot, labels))) {
        return slot;
      }
    }
  }

  /** A series that `find` did not find. */
  add(labels: Labels): number {
    const slot = this.#free.pop() ?? this.used++;
    if (slot === this.#counts.length) {
      this.#starts = widened(this.#starts, new Float64Array(slot * 2));
      this.#generations = widened(this.#generations, new Uint32Array(slot * 2));
      this.#hashes = widened(this.#hashes, new Uint32Array(slot * 2));
      this.#counts = widened(this.#counts, new Uint16Array(slot * 2));
    }
    if (this.#pairsUsed + labels.length > this.#pairs.length) {
      this.#pairs = widened(this.#pairs, new Uint32Array(this.#pairs.length * 2 + labels.length));
    }
    this.#starts[slot] = this.#pairsUsed;
    this.#counts[slot] = labels.length;
    for (const text of labels) {
      this.#pairs[this.#pairsUsed++] = this.#symbol(text);
    }
    const metric = labelValue(labels, metricName);
    const slots = this.#metrics.get(metric);
    if (slots === undefined) {
      this.#metrics.set(metric, [slot]);
    } else {
      slots.push(slot);
    }
    this.live++;
    this.changes++;
    if (this.live * 2 > this.#buckets.length) {
      this.#buckets = new Int32Array(this.#buckets.length * 2);
      this.liveSlots().forEach((other) => this.#place(other));
    } else {
      this.#place(slot);
    }
    return slot;
  }

  isLive(slot: number): boolean {
    return this.#counts[slot]! > 0;
  }

  /** Changes whenever a slot gets another series. */
  generation(slot: number): number {
    return this.#generations[slot]!;
  }

  labels(slot: number): Labels {
    const start = this.#starts[slot]!;
    const flat: string[] = [];
    for (let i = 0; i < this.#counts[slot]!; i++) {
      flat.push(this.#symbols[this.#pairs[start + i]!]!);
    }
    return Object.freeze(flat);
  }

  /** Slots whose labels match, in no certain order. */
  matching(matchers: readonly Matcher[]): number[] {
    const onName = matchers.filter(({ name }) => name === metricName);
    const others = new RowMatcher(
      this.#symbols,
      (text) => this.#bySymbol.get(text),
      matchers.filter(({ name }) => name !== metricName),
    );
    if (others.never) {
      return [];
    }
    const found: number[] = [];
    for (const slots of this.#metricsMatching(onName)) {
      for (const slot of slots) {
        const start = this.#starts[slot]!;
        if (others.matches(this.#pairs, start, start + this.#counts[slot]!)) {
          found.push(slot);
        }
      }
    }
    return found;
  }

  /** Slots of the series of a metric, in no certain order. */
  slotsOf(metric: string): readonly number[] {
    return this.#metrics.get(metric) ?? none;
  }

  /** Number of texts that its symbols stand for. */
  get symbols(): number {
    return this.#symbols.length;
  }

  symbol(number: number): string {
    return this.#symbols[number]!;
  }

  symbolOf(text: string): number | undefined {
    return this.#bySymbol.get(text);
  }

  /** Visits the symbols of every label of every series. */
  eachPair(visit: (name: number, value: number) => void): void {
    for (const slots of this.#metrics.values()) {
      for (const slot of slots) {
        const start = this.#starts[slot]!;
        for (let i = start; i < start + this.#counts[slot]!; i += 2) {
          visit(this.#pairs[i]!, this.#pairs[i + 1]!);
        }
      }
    }
  }

  /** Metrics with at least so many series, and their slots, those with most first. */
  largest(least: number): (readonly [metric: string, slots: readonly number[]])[] {
    return [...this.#metrics]
      .filter(([, slots]) => slots.length >= least)
      .sort(([, a], [, b]) => b.length - a.length);
  }

  liveSlots(): number[] {
    return [...this.#metrics.values()].flat();
  }

  /** Adds the names of all labels. */
  names(into: Set<string>): void {
    const seen = new Uint8Array(this.#symbols.length);
    for (const slot of this.liveSlots()) {
      const start = this.#starts[slot]!;
      for (let i = start; i < start + this.#counts[slot]!; i += 2) {
        seen[this.#pairs[i]!] = 1;
      }
    }
    seen.forEach((is, symbol) => is === 1 && into.add(this.#symbols[symbol]!));
  }

  /** Adds the values of a label among series that match. */
  values(name: string, matchers: readonly Matcher[], into: Set<string>): void {
    const wanted = this.#bySymbol.get(name);
    if (wanted === undefined) {
      return;
    }
    for (const slot of this.matching(matchers)) {
      const start = this.#starts[slot]!;
      for (let i = start; i < start + this.#counts[slot]!; i += 2) {
        if (this.#pairs[i] === wanted) {
          into.add(this.#symbols[this.#pairs[i + 1]!]!);
        }
      }
    }
  }

  /** The slots of each metric, metrics in order of their names. */
  metricsInOrder(): (readonly number[])[] {
    return [...this.#metrics.keys()].sort().map((metric) => [...this.#metrics.get(metric)!]);
  }

  /** Frees slots; their labels go at the next `add` or rebuild. */
  remove(gone: ReadonlySet<number>): void {
    for (const slot of gone) {
      this.#pairsDead += this.#counts[slot]!;
      this.#counts[slot] = 0;
      this.#generations[slot] = this.#generations[slot]! + 1;
      this.#free.push(slot);
    }
    this.live -= gone.size;
    this.changes++;
    for (const [metric, slots] of this.#metrics) {
      const left = slots.filter((slot) => !gone.has(slot));
      if (left.length === 0) {
        this.#metrics.delete(metric);
      } else if (left.length < slots.length) {
        this.#metrics.set(metric, left);
      }
    }
    if (this.#pairsDead * 2 > this.#pairsUsed) {
      this.#rebuild();
    }
    this.#buckets.fill(0);
    this.liveSlots().forEach((slot) => this.#place(slot));
  }

  #has(slot: number, labels: Labels): boolean {
    const start = this.#starts[slot]!;
    return (
      this.#counts[slot] === labels.length &&
      labels.every((text, i) => this.#symbols[this.#pairs[start + i]!] === text)
    );
  }

  #place(slot: number): void {
    const start = this.#starts[slot]!;
    let hash = this.#seed;
    for (let i = start; i < start + this.#counts[slot]!; i++) {
      hash = mixed(hash, this.#pairs[i]!);
    }
    hash = settled(hash);
    this.#hashes[slot] = hash;
    const mask = this.#buckets.length - 1;
    let bucket = hash & mask;
    while (this.#buckets[bucket] !== 0) {
      bucket = (bucket + 1) & mask;
    }
    this.#buckets[bucket] = slot + 1;
  }

  #metricsMatching(matchers: readonly Matcher[]): Iterable<readonly number[]> {
    const exact = matchers.find(({ op }) => op === '=');
    const named = exact?.value ?? '';
    if (exact !== undefined && named !== '') {
      const slots = this.#metrics.get(named);
      return slots !== undefined && matchers.every((matcher) => matcher.matches(named))
        ? [slots]
        : [];
    }
    return [...this.#metrics]
      .filter(([metric]) => matchers.every((matcher) => matcher.matches(metric)))
      .map(([, slots]) => slots);
  }

  #symbol(text: string): number {
    const known = this.#bySymbol.get(text);
    if (known !== undefined) {
      return known;
    }
    this.#bySymbol.set(text, this.#symbols.length);
    this.#textBytes += text.length;
    return this.#symbols.push(text) - 1;
  }

  /** Leaves out what the freed slots held. */
  #rebuild(): void {
    const labels = this.liveSlots().map((slot) => [slot, this.labels(slot)] as const);
    this.#symbols = [];
    this.#bySymbol = new Map();
    this.#textBytes = 0;
    this.#pairs = new Uint32Array(Math.max(4_096, this.#pairsUsed - this.#pairsDead));
    this.#pairsUsed = 0;
    this.#pairsDead = 0;
    for (const [slot, texts] of labels) {
      this.#starts[slot] = this.#pairsUsed;
      for (const text of texts) {
        this.#pairs[this.#pairsUsed++] = this.#symbol(text);
      }
    }
  }
}
