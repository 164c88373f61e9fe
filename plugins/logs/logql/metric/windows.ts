/** The windows of a range aggregation, one per step, each (end - range, end], cut into cells that no window's edge runs through. */
export interface Windows {
  readonly count: number;
  readonly rangeSeconds: number;
  /** Where the first window begins (not in it) and the last one ends (in it), in milliseconds. */
  readonly from: number;
  readonly to: number;
  /** First cell of each window, and the one behind its last. */
  readonly first: Int32Array;
  readonly behind: Int32Array;
  /** Edges of the windows, in milliseconds: window k is (opens[k], closes[k]]. */
  readonly opens: Float64Array;
  readonly closes: Float64Array;
  /** The cell that a time lies in; -1 when no window wants it. */
  cellOf(ms: number, ns: number): number;
}

export function windowsOf(times: Float64Array, rangeMs: number, offsetMs: number): Windows {
  const range = Math.max(1, Math.round(rangeMs));
  const offset = Math.round(offsetMs);
  const closes = times.map((time) => Math.round(time) - offset);
  const opens = closes.map((close) => close - range);
  const edges = Float64Array.from(new Set([...opens, ...closes])).sort();
  const position = new Map<number, number>();
  edges.forEach((edge, index) => position.set(edge, index));
  const first = Int32Array.from(opens, (edge) => position.get(edge)!);
  const behind = Int32Array.from(closes, (edge) => position.get(edge)!);
  const covered = new Uint8Array(edges.length);
  for (let k = 0, done = 0; k < first.length; k++) {
    for (let cell = Math.max(first[k]!, done); cell < behind[k]!; cell++) {
      covered[cell] = 1;
    }
    done = behind[k]!;
  }
  let last = 0;
  return {
    count: times.length,
    rangeSeconds: rangeMs / 1000,
    from: edges[0] ?? 0,
    to: edges.at(-1) ?? 0,
    first,
    behind,
    opens,
    closes,
    cellOf(ms, ns) {
      // Windows are open to the left: a nanosecond past an edge belongs to the cell behind it.
      const at = ns > 0 ? ms + 1 : ms;
      if (!(edges[last]! < at && at <= edges[last + 1]!)) {
        last = cellBefore(edges, at);
      }
      return last < 0 || last >= edges.length - 1 ? (last = 0) - 1 : covered[last] === 1 ? last : -1;
    },
  };
}

/** The greatest index whose edge lies before the time; -1 when none does. */
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
