import { type Opaque, shownAs } from 'svc/template';

/** A point in time inside a template: it shows itself as Go shows a time, and nothing else can be asked of it but through functions. */
export class LogTime implements Opaque {
  readonly ms: number;
  /** Nanoseconds beyond the millisecond. */
  readonly ns: number;
  /** Minutes east of Greenwich. */
  readonly offset: number;
  /** Abbreviation of the zone. */
  readonly zone: string;

  constructor(ms: number, ns: number, offset = 0, zone = 'UTC') {
    this.ms = ms;
    this.ns = ns;
    this.offset = offset;
    this.zone = zone;
  }

  [shownAs](): string {
    return this.format('2006-01-02 15:04:05.999999999 -0700 MST');
  }

  /**
   * Formats by a layout, which shows Go's reference time: Mon Jan 2 15:04:05 2006 in the zone MST,
   * seven hours west.
   */
  format(layout: string): string {
    // The UTC parts of a date that is shifted by the offset are those of the local time.
    const local = new Date(this.ms + this.offset * 60_000);
    return layout.replace(pieces, (piece) => {
      const written = writers.get(piece);
      if (written !== undefined) {
        return written(local);
      }
      return piece === 'MST'
        ? this.zone
        : /^[.,]/.test(piece)
          ? fractionText(piece, local.getUTCMilliseconds() * 1e6 + this.ns)
          : offsetText(piece, this.offset);
    });
  }
}

/** The pieces of the reference time, longest first where one begins with another. */
const pieces =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|002|_2|01|02|03|04|05|06|15|PM|pm|-07:00:00|-07:00|-0700|-07|Z07:00|Z0700|Z07|[.,](?:0{1,9}|9{1,9})(?!\d)|1|2|3|4|5/g;

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;
const days = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;
const dayMs = 86_400_000;

const two = (value: number): string => String(value).padStart(2, '0');
const month = (date: Date): string => months[date.getUTCMonth()]!;
const weekday = (date: Date): string => days[date.getUTCDay()]!;
/** Returns the day of the year. */
const yearDay = (date: Date): number =>
  Math.round((date.getTime() - new Date(date).setUTCMonth(0, 0)) / dayMs);
const halfDayHour = (date: Date): number => date.getUTCHours() % 12 || 12;
const isAfternoon = (date: Date): boolean => date.getUTCHours() >= 12;

/** Writers by element of the layout. */
const writers: ReadonlyMap<string, (date: Date) => string> = new Map([
  ['2006', (date) => String(date.getUTCFullYear()).padStart(4, '0')],
  ['06', (date) => two(date.getUTCFullYear() % 100)],
  ['January', month],
  ['Jan', (date) => month(date).slice(0, 3)],
  ['01', (date) => two(date.getUTCMonth() + 1)],
  ['1', (date) => String(date.getUTCMonth() + 1)],
  ['Monday', weekday],
  ['Mon', (date) => weekday(date).slice(0, 3)],
  ['02', (date) => two(date.getUTCDate())],
  ['_2', (date) => String(date.getUTCDate()).padStart(2)],
  ['2', (date) => String(date.getUTCDate())],
  ['002', (date) => String(yearDay(date)).padStart(3, '0')],
  ['__2', (date) => String(yearDay(date)).padStart(3)],
  ['15', (date) => two(date.getUTCHours())],
  ['03', (date) => two(halfDayHour(date))],
  ['3', (date) => String(halfDayHour(date))],
  ['PM', (date) => (isAfternoon(date) ? 'PM' : 'AM')],
  ['pm', (date) => (isAfternoon(date) ? 'pm' : 'am')],
  ['04', (date) => two(date.getUTCMinutes())],
  ['4', (date) => String(date.getUTCMinutes())],
  ['05', (date) => two(date.getUTCSeconds())],
  ['5', (date) => String(date.getUTCSeconds())],
]);

/** Formats a fraction: `.000` with this many digits; `.999` without trailing zeros, or nothing. */
function fractionText(piece: string, nanos: number): string {
  const digits = String(nanos)
    .padStart(9, '0')
    .slice(0, piece.length - 1);
  const kept = piece[1] === '9' ? digits.replace(/0+$/, '') : digits;
  return kept === '' ? '' : piece[0] + kept;
}

/** Formats an offset by `-0700` and similar elements; with a leading `Z`, UTC is just `Z`. */
function offsetText(piece: string, minutes: number): string {
  if (piece.startsWith('Z') && minutes === 0) {
    return 'Z';
  }
  const size = Math.abs(minutes);
  const hours = (minutes < 0 ? '-' : '+') + two(Math.floor(size / 60));
  const rest = two(size % 60);
  switch (piece.slice(1)) {
    case '07':
      return hours;
    case '0700':
      return hours + rest;
    case '07:00':
      return `${hours}:${rest}`;
    default:
      return `${hours}:${rest}:00`;
  }
}
