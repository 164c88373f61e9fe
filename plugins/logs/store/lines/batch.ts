import { type Labels, labelsKey, noLabels } from 'svc/query';

/** Lines of one stream within a batch: entries `from` to `to`. */
export interface StreamPart {
  readonly labels: Labels;
  readonly from: number;
  readonly to: number;
}

/**
 * Content of one push, in columns. The bytes of the lines are contiguous, so that entry `i` reaches
 * from `ends[i - 1]` to `ends[i]`, and the lines of one part can be copied at once.
 */
export class Batch {
  bytes: Buffer;
  used = 0;
  /** True if all content is known to be UTF-8. */
  isText = false;
  count = 0;
  ms: Float64Array;
  /** Nanoseconds beyond the millisecond. */
  ns: Uint32Array;
  ends: Uint32Array;
  /** Index into `metas`; 0 means none. */
  meta: Uint32Array;
  readonly metas: Labels[] = [noLabels];
  readonly parts: StreamPart[] = [];
  readonly #known = new Map<string, number>([['', 0]]);
  /** The same by the very set. */
  readonly #indexes = new Map<Labels, number>();

  constructor(bytes: number, entries = 64) {
    const memory = takeMemory(bytes, entries);
    this.bytes = memory.bytes;
    this.ms = memory.ms;
    this.ns = memory.ns;
    this.ends = memory.ends;
    this.meta = memory.meta;
  }

  /** Lets another batch have the memory; from then on this one must not be used. */
  release(): void {
    giveMemory(this);
  }

  /** Takes the bytes between the last entry and `used` as the next line. */
  close(ms: number, ns: number, meta: number): void {
    if (this.count === this.ms.length) {
      this.#grow();
    }
    const i = this.count++;
    this.ms[i] = ms;
    this.ns[i] = ns;
    this.ends[i] = this.used;
    this.meta[i] = meta;
  }

  /** Ensures capacity for this many more bytes of lines. */
  reserve(bytes: number): void {
    if (this.used + bytes > this.bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.used + bytes, this.bytes.length * 2));
      this.bytes.copy(grown, 0, 0, this.used);
      this.bytes = grown;
    }
  }

  line(ms: number, ns: number, bytes: Uint8Array, meta: number): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.used);
    this.used += bytes.length;
    this.close(ms, ns, meta);
  }

  text(ms: number, ns: number, line: string, meta: number): void {
    this.reserve(line.length * 3);
    this.used += this.bytes.write(line, this.used);
    this.close(ms, ns, meta);
  }

  metaOf(labels: Labels): number {
    let index = this.#indexes.get(labels);
    if (index === undefined) {
      const key = labelsKey(labels);
      index = this.#known.get(key) ?? this.metas.push(labels) - 1;
      this.#known.set(key, index);
      this.#indexes.set(labels, index);
    }
    return index;
  }

  /** Ends the part that began at entry `from`. */
  part(labels: Labels, from: number): void {
    this.parts.push({ labels, from, to: this.count });
  }

  startOf(entry: number): number {
    return entry === 0 ? 0 : this.ends[entry - 1]!;
  }

  lineAt(entry: number): string {
    return this.bytes.toString('utf8', this.startOf(entry), this.ends[entry]);
  }

  #grow(): void {
    const size = this.ms.length * 2;
    this.ms = grown(this.ms, new Float64Array(size));
    this.ns = grown(this.ns, new Uint32Array(size));
    this.ends = grown(this.ends, new Uint32Array(size));
    this.meta = grown(this.meta, new Uint32Array(size));
  }
}

export function grown<A extends Float64Array | Uint32Array>(from: A, into: A): A {
  into.set(from);
  return into;
}

/** Columns of a batch with arbitrary content. */
interface BatchMemory {
  readonly bytes: Buffer;
  readonly ms: Float64Array;
  readonly ns: Uint32Array;
  readonly ends: Uint32Array;
  readonly meta: Uint32Array;
}

const maxKept = 32;
const largestKept = 1024 * 1024;
const free: BatchMemory[] = [];

/**
 * Returns memory of an earlier batch if there is any: allocating and clearing it for every push,
 * and collecting it, costs more than filling it.
 */
function takeMemory(bytes: number, entries: number): BatchMemory {
  const found = free.findLastIndex(
    (memory) => memory.bytes.length >= bytes && memory.ms.length >= entries,
  );
  if (found >= 0) {
    return free.splice(found, 1)[0]!;
  }
  const rounded =
    bytes === 0 ? 0 : Math.max(bytes, Math.min(2 ** Math.ceil(Math.log2(bytes)), largestKept));
  return {
    bytes: Buffer.allocUnsafeSlow(rounded),
    ms: new Float64Array(entries),
    ns: new Uint32Array(entries),
    ends: new Uint32Array(entries),
    meta: new Uint32Array(entries),
  };
}

/** Returns memory for the next batch; nobody may use it any more. */
function giveMemory({ bytes, ms, ns, ends, meta }: BatchMemory): void {
  if (bytes.length + ms.length * 20 > largestKept * 2 || bytes.length === 0) {
    return;
  }
  if (free.length === maxKept) {
    free.shift();
  }
  free.push({ bytes, ms, ns, ends, meta });
}
