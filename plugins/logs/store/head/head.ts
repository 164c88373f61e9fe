import { type Labels, noLabels } from 'svc/query';

import type { Batch, StreamPart } from '../lines/batch.ts';
import { type Columns, startOf } from '../lines/columns.ts';
import type { HeadColumns, HeadMemory } from './head-memory.ts';

/**
 * Initial capacity. Memory grows fourfold: bytes reach 288 KiB, so that the last lines of a chunk
 * of 256 KiB still fit.
 */
const firstEntries = 32;
const firstBytes = 1_152;

/** The lines of one stream that are in no chunk yet, in the order of their arrival. */
export class Head {
  /** Segment with the first record of lines; besides, the numbers of the first and last record. */
  firstSegment = 0;
  lastRecord = 0;
  /** When the first and the last of them arrived, in milliseconds. */
  bornAt = 0;
  touchedAt = 0;
  readonly #memory: HeadMemory;
  #count = 0;
  #used = 0;
  #beside: HeadColumns;
  #lines: Buffer;
  /** True if readers may still use them after the head is gone. */
  #besideIsLent = false;
  #linesAreLent = false;
  #metas: Labels[] = [noLabels];
  #known = new Map<Labels, number>();
  #metaBytes = 0;
  #ordered = true;
  #sorted: Columns | undefined;

  constructor(memory: HeadMemory) {
    this.#memory = memory;
    this.#beside = memory.columns(firstEntries);
    this.#lines = memory.lines(firstBytes);
  }

  get count(): number {
    return this.#count;
  }

  /** Size of the lines and their metadata. */
  get bytes(): number {
    return this.#used + this.#count * 20 + this.#metaBytes;
  }

  get lineBytes(): number {
    return this.#used;
  }

  append(batch: Batch, part: StreamPart): void {
    const { from, to } = part;
    const start = batch.startOf(from);
    const size = batch.ends[to - 1]! - start;
    this.#reserve(to - from, size);
    const at = this.#count;
    batch.bytes.copy(this.#lines, this.#used, start, start + size);
    const shift = this.#used - start;
    const { ms, ns, ends, meta } = this.#beside;
    /** Local numbers of metadata sets, by their index in the batch. */
    const here: number[] = [0];
    // The parts of a push are short: a loop is done before views for a copy in one go would be made.
    for (let i = from, into = at; i < to; i++, into++) {
      const set = batch.meta[i]!;
      ms[into] = batch.ms[i]!;
      ns[into] = batch.ns[i]!;
      ends[into] = batch.ends[i]! + shift;
      meta[into] = here[set] ??= this.#metaOf(batch.metas[set]!);
    }
    this.#used += size;
    this.#count += to - from;
    this.#ordered &&= ascends(ms, ns, Math.max(at, 1), this.#count);
    this.#sorted = undefined;
  }

  /** Returns the columns like `columns`, but valid indefinitely. */
  lend(): Columns {
    this.#besideIsLent = true;
    this.#linesAreLent = true;
    return this.columns();
  }

  /** Gives its memory to the next one; what `columns` answered must not be looked at any more. */
  release(): void {
    this.#giveBeside();
    this.#giveLines();
  }

  /**
   * Returns the lines by time, without duplicates, for callers that finish with them before more
   * lines are appended.
   */
  columns(): Columns {
    this.#sorted ??= this.#ordered ? this.#asIs() : this.#inOrder();
    return this.#sorted;
  }

  #asIs(): Columns {
    const count = this.#count;
    const { ms, ns, ends, meta } = this.#beside;
    return {
      count,
      ms: ms.subarray(0, count),
      ns: ns.subarray(0, count),
      ends: ends.subarray(0, count),
      meta: this.#metas.length > 1 ? meta.subarray(0, count) : undefined,
      metas: this.#metas,
      lines: this.#lines.subarray(0, this.#used),
    };
  }

  #inOrder(): Columns {
    const all = this.#asIs();
    const order = Uint32Array.from({ length: all.count }, (_, i) => i).sort(
      (a, b) => all.ms[a]! - all.ms[b]! || all.ns[a]! - all.ns[b]! || a - b,
    );
    const kept: number[] = [];
    let run = 0;
    for (const entry of order) {
      const last = kept[kept.length - 1];
      if (last === undefined || all.ms[last] !== all.ms[entry] || all.ns[last] !== all.ns[entry]) {
        run = kept.length;
      } else if (repeats(all, kept, run, entry)) {
        continue;
      }
      kept.push(entry);
    }
    return picked(all, kept);
  }

  #metaOf(labels: Labels): number {
    let index = this.#known.get(labels);
    if (index === undefined) {
      index = this.#metas.push(labels) - 1;
      this.#known.set(labels, index);
      for (const text of labels) {
        this.#metaBytes += text.length + 16;
      }
    }
    return index;
  }

  #reserve(entries: number, bytes: number): void {
    if (this.#count + entries > this.#beside.ms.length) {
      const { ms, ns, ends, meta } = this.#beside;
      const larger = this.#memory.columns(enlarged(ms.length, this.#count + entries));
      larger.ms.set(ms);
      larger.ns.set(ns);
      larger.ends.set(ends);
      larger.meta.set(meta);
      this.#giveBeside();
      this.#beside = larger;
    }
    if (this.#used + bytes > this.#lines.length) {
      const larger = this.#memory.lines(enlarged(this.#lines.length, this.#used + bytes));
      this.#lines.copy(larger, 0, 0, this.#used);
      this.#giveLines();
      this.#lines = larger;
    }
  }

  #giveBeside(): void {
    if (!this.#besideIsLent) {
      this.#memory.giveColumns(this.#beside);
    }
    this.#besideIsLent = false;
  }

  #giveLines(): void {
    if (!this.#linesAreLent) {
      this.#memory.giveLines(this.#lines);
    }
    this.#linesAreLent = false;
  }
}

/** Fourfold, as often as it takes. */
function enlarged(size: number, needed: number): number {
  let larger = size * 4;
  while (larger < needed) {
    larger *= 4;
  }
  return larger;
}

/** Returns whether each entry is later than its predecessor. */
function ascends(ms: Float64Array, ns: Uint32Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (ms[i]! < ms[i - 1]! || (ms[i] === ms[i - 1] && ns[i]! <= ns[i - 1]!)) {
      return false;
    }
  }
  return true;
}

/**
 * Returns whether one of the kept entries from `run` on, all of one instant, has the same line and
 * metadata.
 */
function repeats(all: Columns, kept: readonly number[], run: number, entry: number): boolean {
  const line = lineOf(all, entry);
  for (let i = run; i < kept.length; i++) {
    const other = kept[i]!;
    if (all.meta?.[other] === all.meta?.[entry] && line.equals(lineOf(all, other))) {
      return true;
    }
  }
  return false;
}

const lineOf = (columns: Columns, entry: number): Buffer =>
  columns.lines.subarray(startOf(columns, entry), columns.ends[entry]);

function picked(all: Columns, kept: readonly number[]): Columns {
  const count = kept.length;
  const ms = new Float64Array(count);
  const ns = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const meta = all.meta && new Uint32Array(count);
  const lines = Buffer.allocUnsafeSlow(all.lines.length);
  let used = 0;
  for (let i = 0; i < count; i++) {
    const entry = kept[i]!;
    const start = startOf(all, entry);
    ms[i] = all.ms[entry]!;
    ns[i] = all.ns[entry]!;
    used += all.lines.copy(lines, used, start, all.ends[entry]);
    ends[i] = used;
    if (meta) {
      meta[i] = all.meta[entry]!;
    }
  }
  return { count, ms, ns, ends, meta, metas: all.metas, lines: lines.subarray(0, used) };
}
