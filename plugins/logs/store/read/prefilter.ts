import { type Columns, startOf } from '../lines/columns.ts';

/** Returns the same texts as bytes; the longest first, since it is the most selective. */
export function needlesOf(contains: readonly string[] | undefined): readonly Buffer[] {
  return [...new Set(contains ?? [])]
    .filter((text) => text !== '')
    .map((text) => Buffer.from(text, 'utf8'))
    .sort((a, b) => b.length - a.length);
}

/** Returns whether any line can contain all of them: one search each over all lines at once. */
export const mayHold = (lines: Buffer, needles: readonly Buffer[]): boolean =>
  needles.every((needle) => lines.includes(needle));

/** Entries from `from` to `to` whose line holds every needle, ascending. The runtime searches; lines are looked at only where it found something. */
export function entriesHolding(
  columns: Columns,
  needles: readonly Buffer[],
  from: number,
  to: number,
): Uint32Array {
  const { lines, ends } = columns;
  const [first, ...others] = needles;
  const found: number[] = [];
  const stop = to === 0 ? 0 : ends[to - 1]!;
  const ahead = others.map(() => -1);
  let entry = from;
  for (
    let at = lines.indexOf(first!, startOf(columns, from));
    at >= 0 && at < stop;
    at = lines.indexOf(first!, at)
  ) {
    entry = entryAt(ends, at, entry, to);
    const start = startOf(columns, entry);
    const end = ends[entry]!;
    if (at + first!.length > end) {
      // Across the border of two lines.
      at += 1;
      continue;
    }
    if (
      others.every(
        (needle, i) => (ahead[i] = next(lines, needle, ahead[i]!, start)) + needle.length <= end,
      )
    ) {
      found.push(entry);
    }
    at = end;
  }
  return Uint32Array.from(found);
}

/**
 * Returns the next position of the needle from `start` on; `known` is where it was found before.
 */
function next(lines: Buffer, needle: Buffer, known: number, start: number): number {
  if (known >= start) {
    return known;
  }
  const at = lines.indexOf(needle, start);
  return at < 0 ? Infinity : at;
}

/** The entry whose line holds the byte at `position`, at or after `from`. */
function entryAt(ends: Uint32Array, position: number, from: number, to: number): number {
  let low = from;
  let high = to - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! > position) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
