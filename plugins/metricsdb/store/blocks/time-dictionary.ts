import { Scratch } from '../columns/scratch.ts';
import type { TimeColumn } from '../columns/time-column.ts';
import { timeColumnsPerSection } from './block-layout.ts';

/** Max distinct columns to compare with; older ones are written again when they recur. */
const remembered = 4_096;

/**
 * The times of one slice of a block, each distinct column once: the series of one scrape share theirs, and only the first of
 * them pays for it.
 */
export class TimeDictionary {
  readonly #origin: number;
  readonly #column: TimeColumn;
  readonly #flush: (bytes: Uint8Array) => number;
  readonly #known = new Map<number, { readonly times: Float64Array; readonly number: number }[]>();
  readonly #pending = new Scratch();
  readonly #lengths: number[] = [];
  #written = 0;
  #last: { readonly times: Float64Array; readonly number: number } | undefined;
  /** Sections written so far. */
  readonly sections: number[] = [];

  constructor(origin: number, column: TimeColumn, flush: (bytes: Uint8Array) => number) {
    this.#origin = origin;
    this.#column = column;
    this.#flush = flush;
  }

  /** The number of the column `times[from, to)`. */
  add(times: Float64Array, from: number, to: number): number {
    if (this.#last !== undefined && isSame(this.#last.times, times, from, to)) {
      return this.#last.number;
    }
    const hash = hashOf(times, from, to);
    const alike = this.#known.get(hash);
    const found = alike?.find((entry) => isSame(entry.times, times, from, to));
    if (found !== undefined) {
      this.#last = found;
      return found.number;
    }
    if (this.#known.size >= remembered) {
      this.#known.clear();
    }
    const entry = { times: times.slice(from, to), number: this.#written++ };
    this.#known.set(hash, [...(alike ?? []), entry]);
    this.#last = entry;
    const before = this.#pending.at;
    this.#column.write(this.#pending, times, from, to, this.#origin);
    this.#lengths.push(this.#pending.at - before);
    if (this.#lengths.length === timeColumnsPerSection) {
      this.close();
    }
    return entry.number;
  }

  /** Writes the remainder. */
  close(): void {
    if (this.#lengths.length === 0) {
      return;
    }
    const out = new Scratch(this.#pending.at + this.#lengths.length * 3 + 3);
    out.uvarint(this.#lengths.length);
    this.#lengths.forEach((length) => out.uvarint(length));
    out.put(this.#pending.written());
    this.sections.push(this.#flush(out.written()));
    this.#pending.reset();
    this.#lengths.length = 0;
  }
}

function isSame(known: Float64Array, times: Float64Array, from: number, to: number): boolean {
  if (known.length !== to - from) {
    return false;
  }
  for (let i = 0; i < known.length; i++) {
    if (known[i] !== times[from + i]) {
      return false;
    }
  }
  return true;
}

function hashOf(times: Float64Array, from: number, to: number): number {
  let hash = to - from;
  for (let i = from; i < to; i++) {
    hash = Math.imul(hash ^ (times[i]! % 0x7fff_ffff), 0x01000193);
  }
  return hash;
}
