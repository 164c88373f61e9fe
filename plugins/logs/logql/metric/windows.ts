/** The windows of a range aggregation, one per step, each (end - range, end], cut into cells that no window's edge runs through. */
export class Windows {
  readonly count: number;
  readonly rangeSeconds: number;
  /** First cell of each window, and the one behind its last. */
  readonly first: Int32Array;
  readonly behind: Int32Array;
  /** Edges of the windows, in milliseconds: window k is (opens[k], closes[k]]. */
  readonly opens: Float64Array;
  readonly closes: Float64Array;
  /** Edges of all windows, ascending: cell i lies between edges i and i + 1. */
  readonly #edges: Float64Array;
  /** 1 for cells that are in a window. */
  readonly #covered: Uint8Array;
  #last = 0;

  constructor(times: Float64Array, rangeMs: number, offsetMs: number) {
    const range = Math.max(1, Math.round(rangeMs));
    const offset = Math.round(offsetMs);
    this.count = times.length;
    this.rangeSeconds = rangeMs / 1000;
    this.closes = times.map((time) => Math.round(time) - offset);
    this.opens = this.closes.map((close) => close - range);
    this.#edges = Float64Array.from(new Set([...this.opens, ...this.closes])).sort();
    const position = new Map<number, number>();
    this.#edges.forEach((edge, index) => position.set(edge, index));
    this.first = Int32Array.from(this.opens, (edge) => position.get(edge)!);
    this.behind = Int32Array.from(this.closes, (edge) => position.get(edge)!);
    this.#covered = coveredCells(this.first, this.behind, this.#edges.length);
  }

  /** Start of the first window (exclusive), in milliseconds. */
  get from(): number {
    return this.#edges[0] ?? 0;
  }

  /** End of the last window (inclusive). */
  get to(): number {
    return this.#edges.at(-1) ?? 0;
  }

  /** Returns the cell of a time; -1 if no window needs it. */
  cellOf(ms: number, ns: number): number {
    const edges = this.#edges;
    // Windows are open to the left: a nanosecond past an edge belongs to the cell behind it.
    const at = ns > 0 ? ms + 1 : ms;
    let cell = this.#last;
    if (!(edges[cell]! < at && at <= edges[cell + 1]!)) {
      cell = cellBefore(edges, at);
      if (cell < 0 || cell >= edges.length - 1) {
        return -1;
      }
      this.#last = cell;
    }
    return this.#covered[cell] === 1 ? cell : -1;
  }
}

function coveredCells(first: Int32Array, behind: Int32Array, cells: number): Uint8Array {
  const covered = new Uint8Array(cells);
  for (let k = 0, done = 0; k < first.length; k++) {
    covered.fill(1, Math.max(first[k]!, done), behind[k]);
    done = behind[k]!;
  }
  return covered;
}

/** Returns the greatest index whose edge is before the time; -1 if there is none. */
function cellBefore(edges: Float64Array, at: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}
