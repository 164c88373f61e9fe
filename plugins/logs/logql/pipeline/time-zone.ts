import { LogTime } from './log-time.ts';

/** Zones are made once each; a made one costs much, and their names come from queries. */
export function timeZones(): { minutesEast(zone: string, ms: number): number; at(time: LogTime, zone: string): LogTime } {
  const known = new Map<string, Intl.DateTimeFormat>();
  const most = 32;
  const formatOf = (zone: string): Intl.DateTimeFormat => {
    const found = known.get(zone);
    if (found !== undefined) {
      return found;
    }
    try {
      const made = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
      if (known.size < most) {
        known.set(zone, made);
      }
      return made;
    } catch (cause) {
      throw new Error(`unknown time zone ${zone.slice(0, 64)}`, { cause });
    }
  };
  const minutesEast = (zone: string, ms: number): number => {
    const parts = new Map(
      formatOf(zone)
        .formatToParts(ms)
        .map(({ type, value }) => [type, Number(value)]),
    );
    const [year, month, day, hour, minute, second] = (['year', 'month', 'day', 'hour', 'minute', 'second'] as const).map((type) => parts.get(type)!) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000) / 60_000);
  };
  return {
    minutesEast,
    at(time, zone) {
      const offset = minutesEast(zone, time.ms);
      return new LogTime(time.ms, time.ns, offset, offset === 0 ? 'UTC' : '');
    },
  };
}
