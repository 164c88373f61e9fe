/** Unit of figures, which makes a column of them comparable at a glance. */
export type Unit = 'percent' | 'bytes' | 'bytes-per-second' | 'seconds' | 'per-second' | 'count';

const powers = ['', 'K', 'M', 'G', 'T', 'P'];

export function figure(value: number | null | undefined, unit: Unit = 'count'): string {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return '–';
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? '∞' : '−∞';
  }
  switch (unit) {
    case 'percent':
      return `${rounded(value)} %`;
    case 'bytes':
      return scaled(value, 1024, 'B');
    case 'bytes-per-second':
      return scaled(value, 1024, 'B/s');
    case 'seconds':
      return duration(value);
    case 'per-second':
      return `${scaled(value, 1000, '')}/s`;
    case 'count':
      return scaled(value, 1000, '');
  }
}

/** Three digits that count: 0.123, 1.23, 12.3, 123. */
function rounded(value: number): string {
  const size = Math.abs(value);
  const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return Number(value.toFixed(digits)).toLocaleString('en-GB', { maximumFractionDigits: 3 });
}

function scaled(value: number, base: number, suffix: string): string {
  let at = 0;
  let rest = Math.abs(value);
  // A count stays whole as long as it is short.
  const limit = base === 1000 ? 10_000 : base;
  if (rest >= limit) {
    while (rest >= base && at < powers.length - 1) {
      rest /= base;
      at += 1;
    }
  }
  const unit = `${powers[at]!}${base === 1024 && at > 0 ? 'i' : ''}${suffix}`;
  return `${value < 0 ? '−' : ''}${rounded(rest)}${unit === '' ? '' : `${suffix === '' ? '' : ' '}${unit}`}`;
}

/** A span of time by its two largest units: "3 d 4 h". */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 1) {
    return size === 0
      ? '0 s'
      : size < 0.001
        ? `${rounded(seconds * 1e6)} µs`
        : `${rounded(seconds * 1000)} ms`;
  }
  if (size < 60) {
    return `${rounded(Math.round(seconds * 10) / 10)} s`;
  }
  const parts: readonly [number, string][] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const first = parts.findIndex(([length]) => size >= length);
  const [large, largeName] = parts[first]!;
  const [small, smallName] = parts[first + 1] ?? [1, 's'];
  const rest = Math.floor((size % large) / small);
  return `${Math.floor(size / large)} ${largeName}${rest > 0 && small !== 1 ? ` ${rest} ${smallName}` : ''}`;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { day: '2-digit', month: 'short' });
const full = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});

/** Formats a time in the user's time zone: without the date if it is today. */
export function moment(at: number, now: number): string {
  const date = new Date(at);
  const sameDay = new Date(now).toDateString() === date.toDateString();
  return sameDay ? clock.format(date) : `${day.format(date)} ${clock.format(date).slice(0, 5)}`;
}

export const fullMoment = (at: number): string => full.format(new Date(at));
export const utcMoment = (at: number): string =>
  `${new Date(at).toISOString().replace('T', ' ').slice(0, 19)} UTC`;

const minute = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
});
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short' });

/** Formats the hour and the minute. */
export const clockTime = (at: number): string => minute.format(new Date(at));
export const monthDay = (at: number): string => day.format(new Date(at));
export const dayName = (at: number): string => weekday.format(new Date(at));
