import { formatFloat } from 'svc/query';

const bytes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const thousands = ['', ' k', ' M', ' G', ' T', ' P', ' E'];

/** Formats of values by unit. The keys are all the units there are. */
const formats = {
  none: (value: number) => scaled(value, 1_000, thousands),
  percent: (value: number) => `${digits(value)} %`,
  ratio: (value: number) => `${digits(value * 100)} %`,
  bytes: (value: number) =>
    scaled(
      value,
      1_024,
      bytes.map((name) => ` ${name}`),
    ),
  bytes_per_second: (value: number) =>
    scaled(
      value,
      1_024,
      bytes.map((name) => ` ${name}/s`),
    ),
  bits_per_second: (value: number) =>
    scaled(
      value,
      1_000,
      ['bit', 'kbit', 'Mbit', 'Gbit', 'Tbit', 'Pbit', 'Ebit'].map((name) => ` ${name}/s`),
    ),
  per_second: (value: number) => `${scaled(value, 1_000, thousands)}/s`,
  seconds: (value: number) => time(value),
  milliseconds: (value: number) => time(value / 1_000),
  hertz: (value: number) =>
    scaled(value, 1_000, [' Hz', ' kHz', ' MHz', ' GHz', ' THz', ' PHz', ' EHz']),
  celsius: (value: number) => `${digits(value)} °C`,
  timestamp: (value: number) => instant(value),
  boolean: (value: number) => (value === 0 ? 'no' : 'yes'),
} as const;

export type Unit = keyof typeof formats;

export const units = Object.keys(formats) as readonly Unit[];

/** Formats a value for people; NaN and infinities are shown unchanged. */
export const formatted = (value: number, unit: Unit): string =>
  Number.isFinite(value) ? formats[unit](value) : formatFloat(value);

/** Three digits that count, and none that do not. */
function digits(value: number): string {
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

function scaled(value: number, base: number, names: readonly string[]): string {
  let rest = value;
  let power = 0;
  while (Math.abs(rest) >= base && power < names.length - 1) {
    rest /= base;
    power += 1;
  }
  return digits(rest) + names[power]!;
}

function time(seconds: number): string {
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
