/** Functions that turn each value of an instant vector into another. */
import { greater, lesser } from '../vector/arithmetic.ts';

export type NumberFunction = (value: number, a: number, b: number) => number;

const date = (seconds: number): Date => new Date(Math.trunc(seconds) * 1000);

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const monthLengths = (year: number): readonly number[] => [
  31,
  isLeap(year) ? 29 : 28,
  31,
  30,
  31,
  30,
  31,
  31,
  30,
  31,
  30,
  31,
];

function daysInMonth(seconds: number): number {
  const day = date(seconds);
  return monthLengths(day.getUTCFullYear())[day.getUTCMonth()] ?? NaN;
}

function dayOfYear(seconds: number): number {
  const day = date(seconds);
  const before = monthLengths(day.getUTCFullYear()).slice(0, day.getUTCMonth());
  return before.reduce((sum, length) => sum + length, day.getUTCDate());
}

/** Functions of a time in seconds; without an argument, of the time of evaluation. */
export const dateFunctions: Readonly<Record<string, NumberFunction>> = {
  year: (value) => date(value).getUTCFullYear(),
  month: (value) => date(value).getUTCMonth() + 1,
  day_of_month: (value) => date(value).getUTCDate(),
  day_of_week: (value) => date(value).getUTCDay(),
  day_of_year: dayOfYear,
  days_in_month: daysInMonth,
  hour: (value) => date(value).getUTCHours(),
  minute: (value) => date(value).getUTCMinutes(),
};

export const numberFunctions: Readonly<Record<string, NumberFunction>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  exp: Math.exp,
  sqrt: Math.sqrt,
  ln: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  sgn: (value) => (value < 0 ? -1 : value > 0 ? 1 : value),
  deg: (value) => (value * 180) / Math.PI,
  rad: (value) => (value * Math.PI) / 180,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  // Ties go up; the inverse costs fewer digits than the step itself.
  round: (value, nearest) => Math.floor(value * (1 / nearest) + 0.5) / (1 / nearest),
  clamp: (value, least, most) => greater(least, lesser(most, value)),
  clamp_min: (value, least) => greater(least, value),
  clamp_max: (value, most) => lesser(most, value),
};
