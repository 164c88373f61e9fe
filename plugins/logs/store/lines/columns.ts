import type { Labels } from 'svc/query';

/** Lines of one stream, oldest first, as they come out of a chunk or a head. Entry `i` is `lines[ends[i - 1] … ends[i]]`. */
export interface Columns {
  readonly count: number;
  readonly ms: Float64Array;
  readonly ns: Uint32Array;
  readonly ends: Uint32Array;
  /** Index into `metas`; absent: no entry has metadata. */
  readonly meta: Uint32Array | undefined;
  readonly metas: readonly Labels[];
  readonly lines: Buffer;
}

export const startOf = (columns: Pick<Columns, 'ends'>, entry: number): number =>
  entry === 0 ? 0 : columns.ends[entry - 1]!;

/** The first entry that is not before the instant; `count` when all are. */
export function lowerBound({ ms, ns, count }: Columns, atMs: number, atNs: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ms[middle]! < atMs || (ms[middle]! === atMs && ns[middle]! < atNs)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
