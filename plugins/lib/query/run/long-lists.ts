import type { Budget } from './budget.ts';

type Breath = Pick<Budget, 'breathe'>;

/** Items between two looks at the clock. */
const stretch = 256;
/** Max items sorted at once. */
const shortRun = 2_048;

/** Visits each item; a list of any length lets others have their turn meanwhile. */
export async function eachOf<T>(
  items: Iterable<T>,
  budget: Breath,
  visit: (item: T) => void,
): Promise<void> {
  let left = stretch;
  for (const item of items) {
    visit(item);
    left--;
    if (left === 0) {
      left = stretch;
      await budget.breathe();
    }
  }
}

/** Sorts like `toSorted`, in runs that are merged, so that others get their turn meanwhile. */
export async function sortedList<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  budget: Breath,
): Promise<T[]> {
  if (items.length <= shortRun) {
    return items.toSorted(compare);
  }
  const middle = items.length >> 1;
  const left = await sortedList(items.slice(0, middle), compare, budget);
  await budget.breathe();
  const right = await sortedList(items.slice(middle), compare, budget);
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const takesLeft = r === right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0);
    merged.push(takesLeft ? left[l++]! : right[r++]!);
    if (merged.length % stretch === 0) {
      await budget.breathe();
    }
  }
  return merged;
}

/** Sorts numbers in place, NaN last, as the array itself does. */
export async function sortNumbers(values: Float64Array, budget: Breath): Promise<void> {
  const run = 1 << 16;
  for (let from = 0; from < values.length; from += run) {
    values.subarray(from, from + run).sort();
    await budget.breathe();
  }
  let [source, target] = [values, values.length > run ? new Float64Array(values.length) : values];
  for (let width = run; width < values.length; width *= 2) {
    for (let from = 0; from < values.length; from += 2 * width) {
      await mergeRuns(
        source,
        target,
        {
          from,
          middle: Math.min(from + width, values.length),
          to: Math.min(from + 2 * width, values.length),
        },
        budget,
      );
    }
    [source, target] = [target, source];
  }
  if (source !== values) {
    values.set(source);
  }
}

interface Runs {
  readonly from: number;
  readonly middle: number;
  readonly to: number;
}

async function mergeRuns(
  source: Float64Array,
  target: Float64Array,
  { from, middle, to }: Runs,
  budget: Breath,
): Promise<void> {
  let [l, r] = [from, middle];
  for (let at = from; at < to; at++) {
    const takesLeft = r === to || (l < middle && !isBefore(source[r]!, source[l]!));
    target[at] = takesLeft ? source[l++]! : source[r++]!;
    if ((at & 0xffff) === 0) {
      await budget.breathe();
    }
  }
}

/** Compares in the order of typed arrays: -0 before 0, NaN last. */
const isBefore = (a: number, b: number): boolean =>
  a < b ||
  (a === b
    ? a === 0 && Object.is(a, -0) && !Object.is(b, -0)
    : Number.isNaN(b) && !Number.isNaN(a));
