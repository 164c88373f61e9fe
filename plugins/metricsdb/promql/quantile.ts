/** Below so many values, sorting by insertion is faster than what typed arrays bring. */
const few = 64;

/** Sorts `values`; NaN is less than everything. Between two values the quantile lies as far as its rank does. */
export function quantileOf(q: number, values: Float64Array): number {
  const { length } = values;
  if (length === 0 || Number.isNaN(q)) {
    return NaN;
  }
  if (q < 0 || q > 1) {
    return q < 0 ? -Infinity : Infinity;
  }
  const unknown = sort(values);
  const at = (index: number): number => (index < unknown ? NaN : values[index - unknown]!);

  const rank = q * (length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return at(lower) * (1 - weight) + at(upper) * weight;
}

/** With NaN at the end; answers how many of them there are. */
function sort(values: Float64Array): number {
  const { length } = values;
  if (length > few) {
    values.sort();
    let numbers = length;
    while (numbers > 0 && Number.isNaN(values[numbers - 1]!)) {
      numbers--;
    }
    return length - numbers;
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
