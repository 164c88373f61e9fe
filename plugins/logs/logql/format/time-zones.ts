import { aheadOfUtcMs, zoneFormat } from 'svc/query';

import { LogTime } from './log-time.ts';

const maxZones = 32;

/** Times of day in zones. A zone is made once: that costs much, and their names come from queries, so that not all can be kept. */
export class TimeZones {
  readonly #formats = new Map<string, Intl.DateTimeFormat>();

  /** The same time as clocks show it there. */
  at(time: LogTime, zone: string): LogTime {
    const offset = this.minutesEast(zone, time.ms);
    return new LogTime(time.ms, time.ns, offset, offset === 0 ? 'UTC' : '');
  }

  /** Returns the offset from UTC at this time. */
  minutesEast(zone: string, ms: number): number {
    return Math.round(aheadOfUtcMs(this.#format(zone), ms) / 60_000);
  }

  #format(zone: string): Intl.DateTimeFormat {
    const known = this.#formats.get(zone);
    if (known !== undefined) {
      return known;
    }
    const made = formatOf(zone);
    if (this.#formats.size < maxZones) {
      this.#formats.set(zone, made);
    }
    return made;
  }
}

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    return zoneFormat(zone);
  } catch (cause) {
    throw new Error(`unknown time zone ${zone.slice(0, 64)}`, { cause });
  }
}
