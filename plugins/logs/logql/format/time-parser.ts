import { LogTime } from './log-time.ts';

const months = [
  'jan',
  'feb',
  'mar',
  'apr',
  'may',
  'jun',
  'jul',
  'aug',
  'sep',
  'oct',
  'nov',
  'dec',
] as const;
const piece =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|_2|01|02|03|04|05|06|15|PM|pm|-07:00|-0700|-07|Z07:00|Z0700|[.,](?:0{1,9}|9{1,9})(?!\d)|1|2|3|4|5/g;

interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  nanos: number;
  offset: number | undefined;
  afternoon: boolean | undefined;
}

type Field = readonly [form: RegExp, put: (parts: Parts, text: string) => void];

const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  [
    'January',
    [
      /[A-Za-z]{3,9}/y,
      (parts, text) => (parts.month = months.indexOf(text.slice(0, 3).toLowerCase() as 'jan') + 1),
    ],
  ],
  [
    'Jan',
    [
      /[A-Za-z]{3}/y,
      (parts, text) => (parts.month = months.indexOf(text.toLowerCase() as 'jan') + 1),
    ],
  ],
  ['Monday', [/[A-Za-z]{6,9}/y, () => undefined]],
  ['Mon', [/[A-Za-z]{3}/y, () => undefined]],
  ['MST', [/[A-Z]{3,5}/y, () => undefined]],
  ['2006', [/\d{4}/y, (parts, text) => (parts.year = Number(text))]],
  [
    '06',
    [/\d{2}/y, (parts, text) => (parts.year = Number(text) + (Number(text) >= 69 ? 1900 : 2000))],
  ],
  ['01', [/\d{2}/y, (parts, text) => (parts.month = Number(text))]],
  ['1', [/\d{1,2}/y, (parts, text) => (parts.month = Number(text))]],
  ['02', [/\d{2}/y, (parts, text) => (parts.day = Number(text))]],
  ['_2', [/ ?\d{1,2}/y, (parts, text) => (parts.day = Number(text))]],
  ['2', [/\d{1,2}/y, (parts, text) => (parts.day = Number(text))]],
  ['15', [/\d{2}/y, (parts, text) => (parts.hour = Number(text))]],
  ['03', [/\d{2}/y, (parts, text) => (parts.hour = Number(text))]],
  ['3', [/\d{1,2}/y, (parts, text) => (parts.hour = Number(text))]],
  ['04', [/\d{2}/y, (parts, text) => (parts.minute = Number(text))]],
  ['4', [/\d{1,2}/y, (parts, text) => (parts.minute = Number(text))]],
  ['05', [/\d{2}/y, (parts, text) => (parts.second = Number(text))]],
  ['5', [/\d{1,2}/y, (parts, text) => (parts.second = Number(text))]],
  ['PM', [/AM|PM/y, (parts, text) => (parts.afternoon = text === 'PM')]],
  ['pm', [/am|pm/y, (parts, text) => (parts.afternoon = text === 'pm')]],
  ['-07:00', [/[+-]\d{2}:\d{2}/y, (parts, text) => (parts.offset = minutesOf(text))]],
  ['-0700', [/[+-]\d{4}/y, (parts, text) => (parts.offset = minutesOf(text))]],
  ['-07', [/[+-]\d{2}/y, (parts, text) => (parts.offset = minutesOf(text))]],
  ['Z07:00', [/Z|[+-]\d{2}:\d{2}/y, (parts, text) => (parts.offset = minutesOf(text))]],
  ['Z0700', [/Z|[+-]\d{4}/y, (parts, text) => (parts.offset = minutesOf(text))]],
]);
const fraction = /(?:[.,]\d{1,9}\d*)?/y;

function minutesOf(text: string): number {
  const digits = text.replace(/\D/g, '').padEnd(4, '0');
  return (
    (text.startsWith('-') ? -1 : 1) * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2)))
  );
}

/**
 * Parses a time in the layout's notation of Go's reference time; undefined if it does not match. A
 * zone may state the offset of local time.
 */
export function parseTime(
  layout: string,
  text: string,
  east: (utcMs: number) => number = () => 0,
): LogTime | undefined {
  const parts: Parts = {
    year: 1,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    nanos: 0,
    offset: undefined,
    afternoon: undefined,
  };
  let from = 0;
  let at = 0;
  const read = (form: RegExp): string | undefined => {
    form.lastIndex = at;
    const found = form.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  for (const match of layout.matchAll(piece)) {
    const literal = layout.slice(from, match.index);
    from = match.index + match[0].length;
    if (!text.startsWith(literal, at)) {
      return undefined;
    }
    at += literal.length;
    const field = fields.get(match[0]);
    const found = read(field?.[0] ?? fraction);
    if (found === undefined) {
      return undefined;
    }
    if (field === undefined) {
      parts.nanos = Number(found.slice(1).slice(0, 9).padEnd(9, '0'));
    } else {
      field[1](parts, found);
      if (
        match[0] === '05' &&
        /^[.,]\d/.test(text.slice(at)) &&
        !/^[.,]/.test(layout.slice(from))
      ) {
        parts.nanos = Number(read(fraction)!.slice(1).slice(0, 9).padEnd(9, '0'));
      }
    }
  }
  return layout.slice(from) === text.slice(at) ? timeOf(parts, east) : undefined;
}

function timeOf(parts: Parts, east: (utcMs: number) => number): LogTime | undefined {
  const { year, month, day, minute, second, nanos, afternoon } = parts;
  const hour = afternoon === undefined ? parts.hour : (parts.hour % 12) + (afternoon ? 12 : 0);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (
    month < 1 ||
    month > 12 ||
    day < 1 ||
    date.getUTCMonth() !== month - 1 ||
    hour > 23 ||
    minute > 59 ||
    second > 59
  ) {
    return undefined;
  }
  const local = date.setUTCHours(hour, minute, second, Math.floor(nanos / 1e6));
  const offset = parts.offset ?? east(local);
  return new LogTime(local - offset * 60_000, nanos % 1e6, offset, offset === 0 ? 'UTC' : '');
}
