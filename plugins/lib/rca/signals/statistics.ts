/** Statistics that a few wild values cannot move. Lists may hold nulls where nothing was measured; those do not count. */

export type Sample = number | null;

export const present = (values: readonly Sample[]): number[] =>
  values.filter((value): value is number => value !== null && Number.isFinite(value));

export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) {
    return Number.NaN;
  }
  const at = (sorted.length - 1) * share;
  const below = Math.floor(at);
  const low = sorted[below]!;
  return low + (sorted[Math.min(below + 1, sorted.length - 1)]! - low) * (at - below);
}

const ascending = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();

export const median = (values: readonly number[]): number => quantileOf(values, 0.5);

export function quantileOf(values: readonly number[], share: number): number {
  const sorted = ascending(values);
  return quantile(sorted as unknown as readonly number[], share);
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export function standardDeviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / values.length);
}

/** Usual value of a series: its median, and how far it varies. */
export interface Usual {
  readonly median: number;
  readonly mad: number;
  readonly deviation: number;
  readonly iqr: number;
  readonly count: number;
}

export function usualOf(values: readonly Sample[]): Usual {
  const known = ascending(present(values)) as unknown as number[];
  const middle = quantile(known, 0.5);
  return {
    median: middle,
    mad: median(Array.from(known, (value) => Math.abs(value - middle))),
    deviation: standardDeviation(Array.from(known)),
    iqr: quantile(known, 0.75) - quantile(known, 0.25),
    count: known.length,
  };
}

/** Makes the median absolute deviation of normal noise its standard deviation. */
export const madToDeviation = 1.4826;

/**
 * Returns the correlation of two series over common positions; 0 if one is constant or hardly
 * anything overlaps.
 */
export function pearson(a: readonly Sample[], b: readonly Sample[]): number {
  let count = 0;
  let sumA = 0;
  let sumB = 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    if (a[at] !== null && b[at] !== null) {
      count += 1;
      sumA += a[at]!;
      sumB += b[at]!;
    }
  }
  if (count < 3) {
    return 0;
  }
  let both = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let at = 0; at < length; at += 1) {
    if (a[at] !== null && b[at] !== null) {
      const offA = a[at]! - sumA / count;
      const offB = b[at]! - sumB / count;
      both += offA * offB;
      squaresA += offA * offA;
      squaresB += offB * offB;
    }
  }
  const scale = Math.sqrt(squaresA) * Math.sqrt(squaresB);
  return scale > 1e-300 ? Math.max(-1, Math.min(1, both / scale)) : 0;
}
