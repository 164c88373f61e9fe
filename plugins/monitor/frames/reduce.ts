import { type Calc, calcs } from '../model/drawing.ts';
import { text } from './foreign-json.ts';

/** Makes one figure of the values of a series; undefined where there is none to make it of. */
export function reduced(values: Iterable<number | null>, calc: Calc): number | undefined {
  const numbers = [...values].filter(
    (value): value is number => value !== null && !Number.isNaN(value),
  );
  if (calc === 'count') {
    return numbers.length;
  }
  if (numbers.length === 0) {
    return undefined;
  }
  const sum = (): number => numbers.reduce((total, value) => total + value, 0);
  const least = (): number => numbers.reduce((low, value) => Math.min(low, value));
  const most = (): number => numbers.reduce((high, value) => Math.max(high, value));
  switch (calc) {
    case 'last':
      return numbers.at(-1);
    case 'first':
      return numbers[0];
    case 'mean':
      return sum() / numbers.length;
    case 'min':
      return least();
    case 'max':
      return most();
    case 'sum':
      return sum();
    case 'range':
      return most() - least();
    case 'diff':
      return numbers.at(-1)! - numbers[0]!;
    case 'delta':
      // A counter that begins anew has grown by what it shows.
      return numbers.reduce(
        (grown, value, at) =>
          at === 0 ? 0 : grown + (value >= numbers[at - 1]! ? value - numbers[at - 1]! : value),
        0,
      );
  }
}

/** Headings by which Grafana calls what it has calculated. */
export const calcTitles: Readonly<Record<Calc, string>> = {
  last: 'Last *',
  first: 'First *',
  mean: 'Mean',
  min: 'Min',
  max: 'Max',
  sum: 'Total',
  count: 'Count',
  range: 'Range',
  delta: 'Delta',
  diff: 'Difference',
};

const calcNames: Readonly<Record<string, Calc>> = {
  lastNotNull: 'last',
  current: 'last',
  firstNotNull: 'first',
  avg: 'mean',
  total: 'sum',
};

/** Returns the calculation by Grafana's name of today or of long ago. */
export function calcOf(name: unknown): Calc | undefined {
  const given = text(name);
  return Object.hasOwn(calcNames, given) ? calcNames[given] : calcs.find((calc) => calc === given);
}

export const nameOfCalc = (calc: Calc): string =>
  calc === 'last' ? 'lastNotNull' : calc === 'first' ? 'firstNotNull' : calc;
