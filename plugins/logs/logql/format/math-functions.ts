import { parseFloatGo } from 'svc/query';
import { type TemplateFunction, templateFunction, typeName } from 'svc/template';

import { Decimal } from './decimal.ts';

const int = (value: bigint): bigint => BigInt.asIntN(64, value);

/** A text that is no number counts as nothing, as a label without a value does. */
export function toFloat(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return value;
    case 'bigint':
      return Number(value);
    case 'string':
      return parseFloatGo(value.trim()) ?? 0;
    case 'boolean':
      return value ? 1 : 0;
    default:
      if (value === undefined || value === null) {
        return 0;
      }
      throw new Error(`wrong type for value; expected a number; got ${typeName(value)}`);
  }
}

export function toInt(value: unknown): bigint {
  if (typeof value === 'bigint') {
    return value;
  }
  const number = Math.trunc(toFloat(value));
  return Number.isFinite(number) ? int(BigInt(number)) : 0n;
}

const ints = (least: number, fold: (a: bigint, b: bigint) => bigint): TemplateFunction =>
  templateFunction(least, 64, (args) => args.map(toInt).reduce((a, b) => int(fold(a, b))));
const floats = (least: number, fold: (a: number, b: number) => number): TemplateFunction =>
  templateFunction(least, 64, (args) => args.map(toFloat).reduce(fold));
const decimals = (least: number, fold: (a: Decimal, b: Decimal) => Decimal): TemplateFunction =>
  templateFunction(least, 64, (args) =>
    args
      .map((value) => Decimal.of(toFloat(value)))
      .reduce(fold)
      .toNumber(),
  );

function divided(a: bigint, b: bigint, rest: boolean): bigint {
  if (b === 0n) {
    throw new Error('integer divide by zero');
  }
  return rest ? a % b : a / b;
}

/**
 * Rounds to this many places; away from zero if the remainder is at least `up` of the last place.
 */
function rounded(value: number, places: number, up: number): number {
  const scale = 10 ** Math.min(Math.max(places, 0), 15);
  const scaled = Math.abs(value) * scale;
  return (
    (Math.sign(value) *
      (scaled - Math.floor(scaled) >= up ? Math.ceil(scaled) : Math.floor(scaled))) /
    scale
  );
}

export const mathFunctions: readonly (readonly [string, TemplateFunction])[] = [
  ['add', ints(1, (a, b) => a + b)],
  ['sub', ints(2, (a, b) => a - b)],
  ['mul', ints(1, (a, b) => a * b)],
  ['div', templateFunction(2, 2, ([a, b]) => divided(toInt(a), toInt(b), false))],
  ['mod', templateFunction(2, 2, ([a, b]) => divided(toInt(a), toInt(b), true))],
  ['max', ints(1, (a, b) => (a > b ? a : b))],
  ['min', ints(1, (a, b) => (a < b ? a : b))],
  ['addf', decimals(1, (a, b) => a.plus(b))],
  ['subf', decimals(1, (a, b) => a.minus(b))],
  ['mulf', decimals(1, (a, b) => a.times(b))],
  ['divf', decimals(1, (a, b) => a.dividedBy(b))],
  ['maxf', floats(1, (a, b) => Math.max(a, b))],
  ['minf', floats(1, (a, b) => Math.min(a, b))],
  ['ceil', templateFunction(1, 1, ([value]) => Math.ceil(toFloat(value)))],
  ['floor', templateFunction(1, 1, ([value]) => Math.floor(toFloat(value)))],
  [
    'round',
    templateFunction(2, 3, ([value, places, up = 0.5]) =>
      rounded(toFloat(value), Number(toInt(places)), toFloat(up)),
    ),
  ],
  ['int', templateFunction(1, 1, ([value]) => toInt(value))],
  ['float64', templateFunction(1, 1, ([value]) => toFloat(value))],
];
