import { type Samples } from '../columns/samples.ts';

let marks = new Uint8Array(1_024);

/**
 * Thins samples to what determines, for each window (end inclusive, start exclusive), the first and
 * last sample, min, max and count, with their original times and values; for counters also where
 * they fell. Any query about whole windows that needs no more than that gets the same answer as
 * before.
 */
export function thin(all: Samples, windowMs: number, counter: boolean, into: Samples): Samples {
  if (marks.length < all.length) {
    marks = new Uint8Array(all.length * 2);
  }
  marks.fill(0, 0, all.length);
  for (let from = 0; from < all.length;) {
    const to = windowEnd(all, from, windowMs);
    markWindow(all, from, to);
    from = to;
  }
  if (counter) {
    markFalls(all);
  }
  return marked(all, into.clear().counting());
}

function windowEnd({ times, length }: Samples, from: number, windowMs: number): number {
  const end = Math.ceil(times[from]! / windowMs) * windowMs;
  let to = from + 1;
  while (to < length && times[to]! <= end) {
    to++;
  }
  return to;
}

function markWindow({ values, stale }: Samples, from: number, to: number): void {
  let first = -1;
  let last = -1;
  let least = -1;
  let greatest = -1;
  for (let i = from; i < to; i++) {
    if (stale[i] === 1) {
      continue;
    }
    const value = values[i]!;
    first = first === -1 ? i : first;
    last = i;
    // No comparison with NaN holds, so it gives way to every number, and never wins.
    least = least === -1 || value < values[least]! || Number.isNaN(values[least]!) ? i : least;
    greatest =
      greatest === -1 || value > values[greatest]! || Number.isNaN(values[greatest]!)
        ? i
        : greatest;
  }
  if (first !== -1) {
    marks[first] = marks[last] = marks[least] = marks[greatest] = 1;
  }
  // The last sample of all shows whether the series ended here, even if it is a marker.
  marks[to - 1] = 1;
}

/** Marks a value that fell, with its predecessor, and NaN, between which nothing falls. */
function markFalls({ values, stale, length }: Samples): void {
  let before = -1;
  for (let i = 0; i < length; i++) {
    if (stale[i] === 1) {
      continue;
    }
    if (Number.isNaN(values[i]!)) {
      marks[i] = 1;
    } else if (before !== -1 && values[i]! < values[before]!) {
      marks[i] = marks[before] = 1;
    }
    before = i;
  }
}

function marked({ times, values, stale, length }: Samples, into: Samples): Samples {
  let standsFor = 0;
  for (let i = 0; i < length; i++) {
    const isStale = stale[i] === 1;
    standsFor += isStale ? 0 : 1;
    if (marks[i] === 1) {
      into.push(times[i]!, values[i]!, isStale);
      into.counts![into.length - 1] = isStale ? 0 : standsFor;
      standsFor = isStale ? standsFor : 0;
    }
  }
  return into;
}
