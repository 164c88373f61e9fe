import { parseFloatGo } from 'svc/query';
import { type TemplateFunction, templateFunction, typeName } from 'svc/template';

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

function divided(a: bigint, b: bigint, rest: boolean): bigint {
  if (b === 0n) {
    throw new Error('integer divide by zero');
  }
  return rest ? a % b : a / b;
}

/** Half away from zero, to so many places. */
function rounded(value: number, places: number): number {
  const scale = 10 ** Math.min(Math.max(places, 0), 15);
  return (Math.sign(value) * Math.round(Math.abs(value) * scale)) / scale;
}

export const mathFunctions: readonly (readonly [string, TemplateFunction])[] = [
  ['add', ints(1, (a, b) => a + b)],
  ['sub', ints(2, (a, b) => a - b)],
  ['mul', ints(1, (a, b) => a * b)],
  ['div', templateFunction(2, 2, ([a, b]) => divided(toInt(a), toInt(b), false))],
  ['mod', templateFunction(2, 2, ([a, b]) => divided(toInt(a), toInt(b), true))],
  ['max', ints(1, (a, b) => (a > b ? a : b))],
  ['min', ints(1, (a, b) => (a < b ? a : b))],
  ['addf', floats(1, (a, b) => a + b)],
  ['subf', floats(1, (a, b) => a - b)],
  ['mulf', floats(1, (a, b) => a * b)],
  ['divf', floats(1, (a, b) => a / b)],
  ['maxf', floats(1, (a, b) => Math.max(a, b))],
  ['minf', floats(1, (a, b) => Math.min(a, b))],
  ['ceil', templateFunction(1, 1, ([value]) => Math.ceil(toFloat(value)))],
  ['floor', templateFunction(1, 1, ([value]) => Math.floor(toFloat(value)))],
  ['round', templateFunction(2, 3, ([value, places]) => rounded(toFloat(value), Number(toInt(places))))],
  ['int', templateFunction(1, 1, ([value]) => toInt(value))],
  ['float64', templateFunction(1, 1, ([value]) => toFloat(value))],
];
