/** Columns of a head besides the text of its lines. */
export interface HeadColumns {
  readonly ms: Float64Array;
  readonly ns: Uint32Array;
  readonly ends: Uint32Array;
  readonly meta: Uint32Array;
}

const maxKept = 16 * 1024 * 1024;
const bytesOfEntry = 20;

/**
 * Pool of memory of former heads: a head grows in steps, so that every chunk would leave memory of
 * every size behind. Its content is arbitrary.
 */
export class HeadMemory {
  readonly #lines = new Map<number, Buffer[]>();
  readonly #columns = new Map<number, HeadColumns[]>();
  #kept = 0;

  /** Returns a buffer of one of a few sizes, since the pool is by size. */
  lines(bytes: number): Buffer {
    const found = this.#lines.get(bytes)?.pop();
    if (found === undefined) {
      return Buffer.allocUnsafeSlow(bytes);
    }
    this.#kept -= bytes;
    return found;
  }

  columns(entries: number): HeadColumns {
    const found = this.#columns.get(entries)?.pop();
    if (found === undefined) {
      return {
        ms: new Float64Array(entries),
        ns: new Uint32Array(entries),
        ends: new Uint32Array(entries),
        meta: new Uint32Array(entries),
      };
    }
    this.#kept -= entries * bytesOfEntry;
    return found;
  }

  /** Gives memory back to the pool; nobody may use it any more. */
  giveLines(lines: Buffer): void {
    this.#keep(this.#lines, lines.length, lines, lines.length);
  }

  giveColumns(columns: HeadColumns): void {
    this.#keep(this.#columns, columns.ms.length, columns, columns.ms.length * bytesOfEntry);
  }

  #keep<M>(all: Map<number, M[]>, size: number, memory: M, bytes: number): void {
    if (this.#kept + bytes > maxKept) {
      return;
    }
    this.#kept += bytes;
    (all.get(size) ?? all.set(size, []).get(size)!).push(memory);
  }
}
