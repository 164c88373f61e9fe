/** Returns the format of the clocks of a time zone, all parts as numbers; throws where there is no such zone. Making one costs much. */
export function zoneFormat(zone: string): Intl.DateTimeFormat {
  const numeric = 'numeric';
  return new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
}

/** Returns by how many milliseconds those clocks are ahead of UTC. */
export function aheadOfUtcMs(format: Intl.DateTimeFormat, at: number): number {
  // Its parts as objects would cost four times as much.
  const [month, day, year, hour, minute, second] = format.format(at).match(/\d+/g)!.map(Number);
  const shown = Date.UTC(year!, month! - 1, day, hour, minute, second);
  return shown - Math.floor(at / 1_000) * 1_000;
}
