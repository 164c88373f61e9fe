import { aheadOfUtcMs, zoneFormat } from 'svc/query';

/** Hours of the week at which a silence is in force, by the clocks of one time zone. */
export interface Recurrence {
  /** Empty: every day. Of the day on which a window begins. */
  readonly days: readonly Weekday[];
  /** Minutes after midnight. */
  readonly start_minute: number;
  /** Time that passes, whatever clocks are set to meanwhile. */
  readonly duration_ms: number;
  /** A name of the tz database, such as Europe/Berlin. */
  readonly time_zone: string;
}

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Weekday = (typeof weekdays)[number];

const dayMs = 86_400_000;
/** The first of January 1970 was a Thursday. */
const firstWeekday = 4;

/** A stretch of time. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** Yields the windows that touch a stretch of time, in order. */
export function* windowsIn(
  { days, start_minute: minute, duration_ms: duration, time_zone: zone }: Recurrence,
  { from, to }: TimeSpan,
): Generator<TimeSpan> {
  const first = Math.floor((from - duration + offsetMs(zone, from)) / dayMs) - 1;
  for (let day = first; (day - 2) * dayMs + minute * 60_000 < to; day++) {
    const weekday = weekdays[(((day + firstWeekday) % 7) + 7) % 7]!;
    if (days.length === 0 || days.includes(weekday)) {
      const begins = instantOf(day * dayMs + minute * 60_000, zone);
      if (begins < to && begins + duration > from) {
        yield { from: begins, to: begins + duration };
      }
    }
  }
}

/** A window may have begun on an earlier day and reach into this one. */
export function isWithin(
  { days, start_minute: minute, duration_ms: duration, time_zone: zone }: Recurrence,
  now: number,
): boolean {
  const today = Math.floor((now + offsetMs(zone, now)) / dayMs);
  for (let day = today; (day + 2) * dayMs + minute * 60_000 > now - duration; day--) {
    const begins = instantOf(day * dayMs + minute * 60_000, zone);
    const weekday = weekdays[(((day + firstWeekday) % 7) + 7) % 7]!;
    if (now >= begins && now < begins + duration && (days.length === 0 || days.includes(weekday))) {
      return true;
    }
  }
  return false;
}

export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * When the clocks of a zone show this. A time that they show twice is the first of both; one that they leave out is as long
 * after the change as it would have been.
 */
function instantOf(shown: number, zone: string): number {
  const before = offsetMs(zone, shown - dayMs);
  const after = offsetMs(zone, shown + dayMs);
  const isAfter =
    offsetMs(zone, shown - before) !== before && offsetMs(zone, shown - after) === after;
  return shown - (isAfter ? after : before);
}

/** Returns the offset of a zone from UTC. */
const offsetMs = (zone: string, at: number): number =>
  zone === 'UTC' ? 0 : aheadOfUtcMs(formatOf(zone), at);

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) {
    return known;
  }
  const format = zoneFormat(zone);
  formats.set(zone, format);
  return format;
}
