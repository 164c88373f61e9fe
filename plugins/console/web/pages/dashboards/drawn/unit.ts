import { unitSymbols } from '../../../text/english/watch/dashboards.ts';
import { duration, figure, fullMoment } from '../../../text/format.ts';

const durations: Readonly<Record<string, number>> = {
  nanoseconds: 1e-9,
  microseconds: 1e-6,
  milliseconds: 1e-3,
  seconds: 1,
  minutes: 60,
  hours: 3_600,
  days: 86_400,
};

/** Writes a value in the unit of a panel, as svc does for its latest one. */
export function written(value: number | null | undefined, unit: string, decimals?: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return figure(value);
  }
  const plain = (number: number): string =>
    decimals === undefined ? figure(number) : number.toFixed(decimals);
  const [, form, name = ''] = /^(prefix|suffix|si):(.+)$/.exec(unit) ?? [];
  switch (form) {
    case 'prefix':
      return `${name}${plain(value)}`;
    case 'suffix':
      return `${plain(value)} ${name}`;
    case 'si':
      return thousands(value, name);
    default:
  }
  const scaled = unitSymbols[unit];
  if (scaled !== undefined) {
    return thousands(value, scaled);
  }
  const second = durations[unit];
  if (second !== undefined) {
    return duration(value * second);
  }
  switch (unit) {
    case 'percent':
      return `${plain(value)} %`;
    case 'ratio':
      return `${plain(value * 100)} %`;
    case 'bytes':
      return figure(value, 'bytes');
    case 'bytes_per_second':
      return figure(value, 'bytes-per-second');
    case 'per_second':
      return figure(value, 'per-second');
    case 'celsius':
      return `${plain(value)} °C`;
    case 'timestamp':
      return fullMoment(value * 1_000);
    case 'date':
      return fullMoment(value);
    case 'boolean':
      return value === 0 ? 'no' : 'yes';
    case 'on_off':
      return value === 0 ? 'off' : 'on';
    default:
      return plain(value);
  }
}

const powers = ['', 'k', 'M', 'G', 'T', 'P'];

function thousands(value: number, unit: string): string {
  let rest = value;
  let power = 0;
  while (Math.abs(rest) >= 1_000 && power < powers.length - 1) {
    rest /= 1_000;
    power += 1;
  }
  return `${figure(rest)} ${powers[power]!}${unit}`;
}
