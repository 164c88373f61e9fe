import { type TemplateFunction, templateFunction, typeName } from 'svc/template';

import type { WorkingLine } from '../lines/working-line.ts';
import { LogTime } from './log-time.ts';
import { toInt } from './math-functions.ts';
import { parseTime } from './time-parser.ts';
import { TimeZones } from './time-zones.ts';

const text = (value: unknown): string => {
  if (typeof value !== 'string') {
    throw new Error(`wrong type for value; expected string; got ${typeName(value)}`);
  }
  return value;
};

/** A time, or the seconds of one. */
const timeOf = (value: unknown): LogTime => {
  if (value instanceof LogTime) {
    return value;
  }
  if (typeof value === 'bigint' || typeof value === 'number') {
    return checked(new LogTime(Number(value) * 1000, 0), 'the number');
  }
  throw new Error(`wrong type for value; expected a time; got ${typeName(value)}`);
};

/** JavaScript's dates reach 8.64e15 ms to either side. */
function checked(time: LogTime | undefined, what: string): LogTime {
  if (time === undefined || !(Math.abs(time.ms) < 8.6e15)) {
    throw new Error(`${what} is no time`);
  }
  return time;
}

const nanos = (time: LogTime): bigint => BigInt(Math.trunc(time.ms)) * 1_000_000n + BigInt(time.ns);

/**
 * Converts a number of days, seconds, milliseconds, microseconds or nanoseconds since 1970,
 * distinguished by the number of digits.
 */
function fromUnix(value: string): LogTime {
  const digits = value.replace(/^-/, '').length;
  if (!/^-?\d{1,19}$/.test(value) || ![...[5, 10], 13, 16, 19].includes(digits)) {
    throw new Error(`unable to parse time '${value.slice(0, 64)}'`);
  }
  const scale =
    digits === 5
      ? 86_400_000_000_000n
      : digits === 10
        ? 1_000_000_000n
        : digits === 13
          ? 1_000_000n
          : digits === 16
            ? 1000n
            : 1n;
  const all = BigInt(value) * scale;
  const ns = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return new LogTime(Number((all - ns) / 1_000_000n), Number(ns));
}

export function timeFunctions(
  work: () => WorkingLine,
  now: () => number,
): readonly (readonly [string, TemplateFunction])[] {
  const zones = new TimeZones();
  const inZone = (layout: string, zone: string, value: string): LogTime =>
    checked(
      parseTime(layout, value, (ms) => zones.minutesEast(zone, ms)),
      `${JSON.stringify(value.slice(0, 64))}, read as ${JSON.stringify(layout.slice(0, 64))},`,
    );
  return [
    ['__timestamp__', templateFunction(0, 0, () => new LogTime(work().ms, work().ns))],
    ['now', templateFunction(0, 0, () => new LogTime(now(), 0))],
    ['date', templateFunction(2, 2, ([layout, time]) => timeOf(time).format(text(layout)))],
    [
      'toDate',
      templateFunction(2, 2, ([layout, value]) => inZone(text(layout), 'UTC', text(value))),
    ],
    [
      'toDateInZone',
      templateFunction(3, 3, ([layout, zone, value]) =>
        inZone(text(layout), text(zone), text(value)),
      ),
    ],
    [
      'dateInZone',
      templateFunction(3, 3, ([layout, time, zone]) =>
        zones.at(timeOf(time), text(zone)).format(text(layout)),
      ),
    ],
    ['unixEpoch', templateFunction(1, 1, ([time]) => String(Math.floor(timeOf(time).ms / 1000)))],
    ['unixEpochMillis', templateFunction(1, 1, ([time]) => String(Math.trunc(timeOf(time).ms)))],
    ['unixEpochNanos', templateFunction(1, 1, ([time]) => String(nanos(timeOf(time))))],
    [
      'unixToTime',
      templateFunction(1, 1, ([value]) =>
        fromUnix(typeof value === 'string' ? value : String(toInt(value))),
      ),
    ],
  ];
}
