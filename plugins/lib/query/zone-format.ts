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
  const part = Object.fromEntries(
    format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
  );
  const shown = Date.UTC(
    part['year']!,
    part['month']! - 1,
    part['day'],
    part['hour'],
    part['minute'],
    part['second'],
  );
  return shown - Math.floor(at / 1_000) * 1_000;
}
