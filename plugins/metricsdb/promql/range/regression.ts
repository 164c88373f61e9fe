import { CompensatedSum } from 'svc/query';

import type { RangeFunction, Window } from './window.ts';

const sumX = new CompensatedSum();
const sumY = new CompensatedSum();
const sumXY = new CompensatedSum();
const sumXX = new CompensatedSum();

/** Least squares through the samples, with seconds since `origin` as x. */
function line(
  { times, values, from, to }: Window,
  origin: number,
): readonly [slope: number, intercept: number] {
  const first = values[from]!;
  let constant = true;
  for (const sum of [sumX, sumY, sumXY, sumXX]) {
    sum.reset();
  }
  for (let i = from; i < to; i++) {
    const x = (times[i]! - origin) / 1000;
    const y = values[i]!;
    constant &&= i === from || y === first;
    sumX.add(x);
    sumY.add(y);
    sumXY.add(x * y);
    sumXX.add(x * x);
  }
  if (constant) {
    return Number.isFinite(first) || Number.isNaN(first) ? [0, first] : [NaN, NaN];
  }
  const count = to - from;
  const x = sumX.total + sumX.lost;
  const y = sumY.total + sumY.lost;
  const covariance = sumXY.total + sumXY.lost - (x * y) / count;
  const slope = covariance / (sumXX.total + sumXX.lost - (x * x) / count);
  return [slope, y / count - (slope * x) / count];
}

export const regressionFunctions: Readonly<Record<string, RangeFunction>> = {
  // Any time near the samples serves as origin; far from them, squares would lose digits.
  deriv: { least: 2, compute: (window) => line(window, window.times[window.from]!)[0] },
  predict_linear: {
    least: 2,
    compute(window) {
      const [slope, intercept] = line(window, window.time);
      return slope * window.a + intercept;
    },
  },
};
