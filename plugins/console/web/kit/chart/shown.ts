import type { Unit } from '../../text/format.ts';
import type { ChartQuery } from './matrix.ts';
import type { Line, Plotted } from './plot.ts';

/** Content of a chart, as far as it leads anywhere. */
export interface Shown {
  readonly title: string;
  readonly queries: readonly ChartQuery[];
  readonly unit: Unit;
  readonly plotted: Plotted | undefined;
  readonly bounds: readonly [number, number];
}

/** A span of time in seconds. */
export type Range = readonly [from: number, to: number];

const shortestAround = 120;
const longestAround = 3_600;

/** Returns the time around a moment, or a range, of a chart: more of it where the chart shows more. */
export function rangeAround(from: number, to: number, [first, last]: Range): Range {
  const around = Math.min(longestAround, Math.max(shortestAround, (last - first) / 24));
  return [Math.floor(from - around), Math.ceil(to + around)];
}

/**
 * Returns how long the highest line was in the upper half of its values, around its highest one;
 * undefined for lines that are level, or that have no value.
 */
export function peakOf({ times, lines }: Plotted): Range | undefined {
  let found: { readonly values: Line['values']; readonly index: number } | undefined;
  for (const { values } of lines) {
    values.forEach((value, index) => {
      if (value !== null && (found === undefined || value > found.values[found.index]!)) {
        found = { values, index };
      }
    });
  }
  if (found === undefined) {
    return undefined;
  }
  const { values, index } = found;
  const most = values[index]!;
  const least = Math.min(...values.filter((value) => value !== null));
  const isHigh = (at: number): boolean => (values[at] ?? -Infinity) > (most + least) / 2;
  if (most === least) {
    return undefined;
  }
  let [from, to] = [index, index];
  while (isHigh(from - 1)) {
    from -= 1;
  }
  while (isHigh(to + 1)) {
    to += 1;
  }
  return [times[from]!, times[to]!];
}

/** Returns a range as the address of a page has it. */
export const written = ([from, to]: Range): string => `${Math.floor(from)}-${Math.ceil(to)}`;
