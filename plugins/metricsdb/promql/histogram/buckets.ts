/** Classic histograms: for each upper bound, how many observations lie at or below it. */
export interface Bucket {
  readonly bound: number;
  count: number;
}

/** Corrections that made counts never fall from bucket to bucket. */
export interface Fix {
  readonly least: number;
  readonly most: number;
  readonly difference: number;
}

/** Rounding makes counts differ by less than this share of them. */
const negligible = 1e-12;

/** Sorted by bound, with those of the same bound added up. */
export function coalesce(buckets: readonly Bucket[]): Bucket[] {
  const result: Bucket[] = [];
  for (const bucket of buckets.toSorted((a, b) => a.bound - b.bound)) {
    const last = result.at(-1);
    if (last !== undefined && last.bound === bucket.bound) {
      last.count += bucket.count;
    } else {
      result.push({ ...bucket });
    }
  }
  return result;
}

/** `buckets` as `coalesce` makes them. Between the bounds of a bucket observations are taken to be spread evenly. */
export function bucketQuantile(
  q: number,
  buckets: Bucket[],
): { readonly value: number; readonly fix?: Fix } {
  if (Number.isNaN(q)) {
    return { value: NaN };
  }
  if (q < 0 || q > 1) {
    return { value: q < 0 ? -Infinity : Infinity };
  }
  if (buckets.at(-1)?.bound !== Infinity) {
    return { value: NaN };
  }
  const fix = makeMonotonic(buckets);
  return { value: monotonicQuantile(q, buckets), ...(fix !== undefined && { fix }) };
}

function monotonicQuantile(q: number, buckets: readonly Bucket[]): number {
  const observations = buckets.at(-1)!.count;
  if (buckets.length < 2 || observations === 0) {
    return NaN;
  }
  const rank = q * observations;
  const last = buckets.length - 1;
  let index = 0;
  while (index < last && !(buckets[index]!.count >= rank)) {
    index++;
  }
  if (index === last) {
    return buckets[last - 1]!.bound;
  }
  const { bound, count } = buckets[index]!;
  if (index === 0) {
    return bound <= 0 ? bound : bound * (rank / count);
  }
  const before = buckets[index - 1]!;
  return before.bound + (bound - before.bound) * ((rank - before.count) / (count - before.count));
}

function makeMonotonic(buckets: Bucket[]): Fix | undefined {
  let least = Infinity;
  let most = -Infinity;
  let difference = 0;
  let before = buckets[0]!.count;
  for (const bucket of buckets.slice(1)) {
    const { bound, count } = bucket;
    if (count === before) {
      continue;
    }
    if (almostEqual(before, count)) {
      bucket.count = before;
    } else if (count < before) {
      bucket.count = before;
      least = Math.min(least, bound);
      most = Math.max(most, bound);
      difference = Math.max(difference, before - count);
    } else {
      before = count;
    }
  }
  return most === -Infinity ? undefined : { least, most, difference };
}

const smallestNormal = 2 ** -1022;

function almostEqual(a: number, b: number): boolean {
  if (Number.isNaN(a) && Number.isNaN(b)) {
    return true;
  }
  const distance = Math.abs(a - b);
  const size = Math.abs(a) + Math.abs(b);
  return a === 0 || b === 0 || size < smallestNormal
    ? distance < negligible * smallestNormal
    : distance / Math.min(size, Number.MAX_VALUE) < negligible;
}

/** The share of observations between two values. */
export function bucketFraction(lower: number, upper: number, buckets: readonly Bucket[]): number {
  const total = buckets.at(-1);
  if (
    total?.bound !== Infinity ||
    total.count === 0 ||
    Number.isNaN(lower) ||
    Number.isNaN(upper)
  ) {
    return NaN;
  }
  return lower >= upper ? 0 : (rankOf(upper, buckets) - rankOf(lower, buckets)) / total.count;
}

/** Returns how many observations lie below a value. */
function rankOf(value: number, buckets: readonly Bucket[]): number {
  const total = buckets.at(-1)!.count;
  let rank = 0;
  // Buckets that begin above zero are taken to begin at zero.
  let floor = buckets[0]!.bound <= 0 ? -Infinity : 0;
  for (const { bound, count } of buckets) {
    if (floor >= value) {
      return Math.min(rank, total);
    }
    if (bound > value) {
      return Math.min(
        floor === -Infinity ? count : rank + ((count - rank) * (value - floor)) / (bound - floor),
        total,
      );
    }
    rank = count;
    floor = bound;
  }
  return total;
}
