import { formatFloat } from 'svc/query';

const bytes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const thousands = ['', ' k', ' M', ' G', ' T', ' P', ' E'];

/** Writes the figure of a value, at the power that was chosen. */
type Digits = (value: number) => string;

const si = (name: string): readonly string[] =>
  ['', 'k', 'M', 'G', 'T', 'P', 'E'].map((power) => ` ${power}${name}`);
const perSecond = (names: readonly string[]): readonly string[] =>
  names.map((name) => ` ${name}/s`);

/** Formats of values by unit. The keys are all the units there are. */
const formats = {
  none: (value, digits) => scaled(value, 1_000, thousands, digits),
  percent: (value, digits) => `${digits(value)} %`,
  ratio: (value, digits) => `${digits(value * 100)} %`,
  bytes: (value, digits) =>
    scaled(
      value,
      1_024,
      bytes.map((name) => ` ${name}`),
      digits,
    ),
  decimal_bytes: (value, digits) => scaled(value, 1_000, si('B'), digits),
  bytes_per_second: (value, digits) => scaled(value, 1_024, perSecond(bytes), digits),
  bits_per_second: (value, digits) =>
    scaled(
      value,
      1_000,
      perSecond(['bit', 'kbit', 'Mbit', 'Gbit', 'Tbit', 'Pbit', 'Ebit']),
      digits,
    ),
  per_second: (value, digits) => `${scaled(value, 1_000, thousands, digits)}/s`,
  nanoseconds: (value, digits) => time(value / 1e9, digits),
  microseconds: (value, digits) => time(value / 1e6, digits),
  milliseconds: (value, digits) => time(value / 1_000, digits),
  seconds: (value, digits) => time(value, digits),
  minutes: (value, digits) => time(value * 60, digits),
  hours: (value, digits) => time(value * 3_600, digits),
  days: (value, digits) => time(value * 86_400, digits),
  hertz: (value, digits) => scaled(value, 1_000, si('Hz'), digits),
  celsius: (value, digits) => `${digits(value)} °C`,
  timestamp: (value) => instant(value),
  date: (value) => instant(value / 1_000),
  boolean: (value) => (value === 0 ? 'no' : 'yes'),
  on_off: (value) => (value === 0 ? 'off' : 'on'),
} as const satisfies Readonly<Record<string, (value: number, digits: Digits) => string>>;

type KnownUnit = keyof typeof formats;
type MadeUnit = `${'prefix' | 'suffix' | 'si'}:${string}`;
export type Unit = KnownUnit | MadeUnit;

export const units = Object.keys(formats) as readonly KnownUnit[];

/** A unit that is written out: before the value, behind it, or behind it with powers of 1,000. */
export const unitForm = /^(prefix|suffix|si):([^\p{Cc}]{1,30})$/u;

const isKnown = (unit: Unit): unit is KnownUnit => Object.hasOwn(formats, unit);

/** Formats a value for people; NaN and infinities are shown unchanged. */
export function formatted(value: number, unit: Unit, decimals?: number): string {
  if (!Number.isFinite(value)) {
    return formatFloat(value);
  }
  const digits: Digits = decimals === undefined ? threeDigits : (one) => one.toFixed(decimals);
  return isKnown(unit) ? formats[unit](value, digits) : written(value, unit, digits);
}

function written(value: number, unit: MadeUnit, digits: Digits): string {
  const [, form, name = ''] = unitForm.exec(unit) ?? [];
  switch (form) {
    case 'prefix':
      return `${name}${scaled(value, 1_000, thousands, digits)}`;
    case 'si':
      return scaled(value, 1_000, si(name), digits);
    default:
      return `${digits(value)} ${name}`;
  }
}

/** Three digits that count, and none that do not. */
function threeDigits(value: number): string {
  const size = Math.abs(value);
  const places =
    size >= 100 || size === 0
      ? 0
      : size >= 10
        ? 1
        : size >= 1
          ? 2
          : Math.min(12, 2 - Math.floor(Math.log10(size)));
  return String(Number(value.toFixed(places)));
}

function scaled(value: number, base: number, names: readonly string[], digits: Digits): string {
  let rest = value;
  let power = 0;
  while (Math.abs(rest) >= base && power < names.length - 1) {
    rest /= base;
    power += 1;
  }
  return digits(rest) + names[power]!;
}

function time(seconds: number, digits: Digits): string {
  const size = Math.abs(seconds);
  if (size < 1 && size > 0) {
    return size < 1e-3 ? `${digits(seconds * 1e6)} µs` : `${digits(seconds * 1e3)} ms`;
  }
  const [name, length] =
    size < 60
      ? ['s', 1]
      : size < 3_600
        ? ['min', 60]
        : size < 86_400
          ? ['h', 3_600]
          : ['d', 86_400];
  return `${digits(seconds / length)} ${name}`;
}

/** Dates beyond what a calendar holds are shown as the number they are. */
const instant = (seconds: number): string =>
  Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1_000).toISOString() : formatFloat(seconds);
