import { aheadOfUtcMs, zoneFormat } from 'svc/query';

import { type Cron, parseCron } from './cron.ts';
import { errors } from './errors.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
/** February 29 can be eight years away. */
const maxDays = 9 * 366;
/** January 1, 1970 was a Thursday. */
const firstWeekday = 4;

/**
 * Times at which a schedule is due, by the clocks of its time zone.
 *
 * An expression that names its hours is due once for each time that it names: a time that clocks
 * show twice is due the first time, and one that they skip as long after the change as it would
 * have been. An expression that matches every hour is due whenever the clocks show its minutes, so
 * that hours stay one hour apart.
 */
export class Slots {
  readonly #cron: Cron;
  readonly #offsetAt: (at: number) => number;

  constructor(expression: string, zone: string) {
    this.#cron = parseCron(expression);
    this.#offsetAt = offsetsOf(zone);
    if (this.next(0) === undefined) {
      throw errors.cron_never({ text: expression.slice(0, 100) });
    }
  }

  /** Returns the first slot after a time. */
  next(after: number): number | undefined {
    const first = this.#dayOf(after) - 1;
    for (let day = first; day < first + maxDays; day++) {
      const slot = this.#ofDay(day).find((at) => at > after);
      if (slot !== undefined) {
        return slot;
      }
    }
    return undefined;
  }

  /** Returns the last slot that is not after `until`. */
  newest(until: number): number | undefined {
    const last = this.#dayOf(until) + 1;
    for (let day = last; day > last - maxDays; day--) {
      const slot = this.#ofDay(day).findLast((at) => at <= until);
      if (slot !== undefined) {
        return slot;
      }
    }
    return undefined;
  }

  /** Returns the shortest time between two of the next slots. */
  shortestGap(after: number): number {
    let shortest = Infinity;
    let before = this.next(after);
    for (let count = 0; before !== undefined && count < 60; count++) {
      const next = this.next(before);
      shortest = next === undefined ? shortest : Math.min(shortest, next - before);
      before = next;
    }
    return shortest;
  }

  /** Returns the slots of one day of the calendar, in order; days count from January 1, 1970. */
  #ofDay(day: number): readonly number[] {
    if (!this.#matches(day)) {
      return [];
    }
    const [before, after] = [this.#offsetAt((day - 1) * dayMs), this.#offsetAt((day + 2) * dayMs)];
    const { hours, minutes } = this.#cron;
    const shown = hours.flatMap((hour) =>
      minutes.map((minute) => day * dayMs + (hour * 60 + minute) * minuteMs),
    );
    if (before === after) {
      return shown.map((at) => at - before);
    }
    const slots =
      hours.length === 24
        ? shown.flatMap((at) => this.#instants(at, before, after))
        : shown.map((at) => this.#instants(at, before, after)[0] ?? at - before);
    return [...new Set(slots)].toSorted((a, b) => a - b);
  }

  /** Returns the instants at which clocks show a time: none, one or two. */
  #instants(shown: number, before: number, after: number): readonly number[] {
    return [shown - before, shown - after].filter(
      (at, index) => at + this.#offsetAt(at) === shown && (index === 0 || before !== after),
    );
  }

  #matches(day: number): boolean {
    const { days, months, weekdays, eitherDay } = this.#cron;
    const date = new Date(day * dayMs);
    if (!months.has(date.getUTCMonth() + 1)) {
      return false;
    }
    const byDay = days.has(date.getUTCDate());
    const byWeekday = weekdays.has((((day + firstWeekday) % 7) + 7) % 7);
    return eitherDay ? byDay || byWeekday : byDay && byWeekday;
  }

  #dayOf(at: number): number {
    return Math.floor((at + this.#offsetAt(at)) / dayMs);
  }
}

function offsetsOf(zone: string): (at: number) => number {
  if (zone === 'UTC') {
    return () => 0;
  }
  try {
    const format = zoneFormat(zone);
    return (at) => aheadOfUtcMs(format, at);
  } catch {
    throw errors.time_zone({ zone: zone.slice(0, 60) });
  }
}
