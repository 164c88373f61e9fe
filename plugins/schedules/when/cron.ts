import { errors } from './errors.ts';

/** Cron expression of five fields; each set holds the values that match. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  /** Numbers from 1. */
  readonly months: ReadonlySet<number>;
  /** Numbers from 0, which is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** True if both day fields limit the days: then a day matches that fits either of them. */
  readonly eitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  {
    name: 'month',
    from: 1,
    to: 12,
    names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
  },
  {
    name: 'day of the week',
    from: 0,
    to: 7,
    names: 'sun mon tue wed thu fri sat'.split(' '),
  },
];

const shorthands: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

/** Parses an expression as cron does; throws invalid_argument for any other. */
export function parseCron(text: string): Cron {
  const trimmed = text.trim().toLowerCase();
  const parts = (shorthands[trimmed] ?? trimmed).split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) {
    throw errors.cron_fields({ text: text.slice(0, 100), count: parts.length });
  }
  const [minutes, hours, days, months, weekdays] = fields.map((field, at) =>
    valuesOf(parts[at]!, field),
  ) as [number[], number[], number[], number[], number[]];
  const [, , dayPart, , weekdayPart] = parts;
  return {
    minutes,
    hours,
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((day) => day % 7)),
    eitherDay: !dayPart!.startsWith('*') && !weekdayPart!.startsWith('*'),
  };
}

/** Returns the values of one field, in order. */
function valuesOf(part: string, field: Field): number[] {
  const values = part.split(',').flatMap((item) => {
    const [, range = '', step = '1'] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(item) ?? [];
    const [low, high] = boundsOf(range, field, item.includes('/')) ?? [];
    const by = Number(step);
    if (low === undefined || high === undefined || low > high || by < 1) {
      const { name, from, to } = field;
      throw errors.cron_field({ part: part.slice(0, 60), field: name, from, to });
    }
    return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, at) => low + at * by);
  });
  return [...new Set(values)].toSorted((a, b) => a - b);
}

/** `5/15` begins at 5 and goes on to the end of the field. */
function boundsOf(
  range: string,
  field: Field,
  isStepped: boolean,
): readonly [number, number] | undefined {
  const { from, to } = field;
  if (range === '*') {
    // Sunday is both 0 and 7, but once a week.
    return [from, field.name === 'day of the week' ? 6 : to];
  }
  const [low, high, ...more] = range.split('-').map((text) => numberIn(text, field));
  if (low === undefined || more.length > 0 || (range.includes('-') && high === undefined)) {
    return undefined;
  }
  return [low, high ?? (isStepped ? to : low)];
}

function numberIn(text: string, { from, to, names }: Field): number | undefined {
  const named = names?.indexOf(text) ?? -1;
  const number = named >= 0 ? named + from : /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return number >= from && number <= to ? number : undefined;
}
