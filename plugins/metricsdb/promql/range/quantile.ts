import { type Budget, sortNumbers } from 'svc/query';

/** Number of values below which insertion sort is faster than that of typed arrays. */
const few = 64;

/** Sorts `values`, NaN first, and returns the quantile, interpolated by rank. */
export function quantileOf(q: number, values: Float64Array): number {
  return isOutside(q, values) ? outside(q, values) : ranked(q, values, sort(values));
}

/** Computes the same for so many values that sorting them at once would block others. */
export async function quantileOfMany(
  q: number,
  values: Float64Array,
  budget: Budget,
): Promise<number> {
  if (isOutside(q, values)) {
    return outside(q, values);
  }
  await sortNumbers(values, budget);
  return ranked(q, values, values.length - numbersIn(values));
}

const isOutside = (q: number, { length }: Float64Array): boolean =>
  length === 0 || !(q >= 0 && q <= 1);

const outside = (q: number, { length }: Float64Array): number =>
  length === 0 || Number.isNaN(q) ? NaN : q < 0 ? -Infinity : Infinity;

/** Returns the quantile of sorted values, of which the last `unknown` are NaN. */
function ranked(q: number, values: Float64Array, unknown: number): number {
  const { length } = values;
  const at = (index: number): number => (index < unknown ? NaN : values[index - unknown]!);

  const rank = q * (length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return at(lower) * (1 - weight) + at(upper) * weight;
}

/** Sorts with NaN last; returns the number of NaN. */
function sort(values: Float64Array): number {
  const { length } = values;
  if (length > few) {
    values.sort();
    return length - numbersIn(values);
  }
  let numbers = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    if (!Number.isNaN(value)) {
      let place = numbers++;
      for (; place > 0 && values[place - 1]! > value; place--) {
        values[place] = values[place - 1]!;
      }
      values[place] = value;
    }
  }
  values.fill(NaN, numbers);
  return length - numbers;
}

/** Returns how many sorted values come before the first NaN. */
function numbersIn(values: Float64Array): number {
  let numbers = values.length;
  while (numbers > 0 && Number.isNaN(values[numbers - 1]!)) {
    numbers--;
  }
  return numbers;
}
