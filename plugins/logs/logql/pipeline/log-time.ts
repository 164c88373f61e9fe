import { type Opaque, shownAs } from 'svc/template';

/** A point in time inside a template: it shows itself as Go shows a time, and nothing else can be asked of it but through functions. */
export class LogTime implements Opaque {
  constructor(
    readonly ms: number,
    /** Nanoseconds beyond the millisecond. */
    readonly ns: number,
    /** Minutes east of Greenwich, and what the zone calls itself. */
    readonly offset = 0,
    readonly zone = 'UTC',
  ) {}

  [shownAs](): string {
    return formatTime(this, '2006-01-02 15:04:05.999999999 -0700 MST');
  }
}

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] as const;
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** The pieces of Go's reference time, longest first where one begins with another. */
const piece =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|002|_2|01|02|03|04|05|06|15|PM|pm|-07:00:00|-07:00|-0700|-07|Z07:00|Z0700|Z07|[.,](?:0{1,9}|9{1,9})(?!\d)|1|2|3|4|5/g;

const two = (value: number): string => String(value).padStart(2, '0');

export function formatTime(time: LogTime, layout: string): string {
  const local = new Date(time.ms + time.offset * 60_000);
  const nanos = (((local.getUTCMilliseconds() + 1000) % 1000) * 1_000_000 + time.ns).toString().padStart(9, '0');
  const hour = local.getUTCHours();
  const half = hour % 12 === 0 ? 12 : hour % 12;
  const yearDay = Math.floor((Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()) - Date.UTC(local.getUTCFullYear(), 0, 0)) / 86_400_000);
  return layout.replace(piece, (found) => {
    if (found[0] === '.' || found[0] === ',') {
      const digits = nanos.slice(0, found.length - 1);
      const kept = found[1] === '9' ? digits.replace(/0+$/, '') : digits;
      return kept === '' ? '' : found[0] + kept;
    }
    switch (found) {
      case 'January':
        return months[local.getUTCMonth()]!;
      case 'Jan':
        return months[local.getUTCMonth()]!.slice(0, 3);
      case 'Monday':
        return days[local.getUTCDay()]!;
      case 'Mon':
        return days[local.getUTCDay()]!.slice(0, 3);
      case '2006':
        return String(local.getUTCFullYear()).padStart(4, '0');
      case '06':
        return two(local.getUTCFullYear() % 100);
      case '01':
        return two(local.getUTCMonth() + 1);
      case '1':
        return String(local.getUTCMonth() + 1);
      case '02':
        return two(local.getUTCDate());
      case '_2':
        return String(local.getUTCDate()).padStart(2);
      case '2':
        return String(local.getUTCDate());
      case '002':
        return String(yearDay).padStart(3, '0');
      case '__2':
        return String(yearDay).padStart(3);
      case '15':
        return two(hour);
      case '03':
        return two(half);
      case '3':
        return String(half);
      case '04':
        return two(local.getUTCMinutes());
      case '4':
        return String(local.getUTCMinutes());
      case '05':
        return two(local.getUTCSeconds());
      case '5':
        return String(local.getUTCSeconds());
      case 'PM':
        return hour >= 12 ? 'PM' : 'AM';
      case 'pm':
        return hour >= 12 ? 'pm' : 'am';
      case 'MST':
        return time.zone;
      default:
        return offsetText(found, time.offset);
    }
  });
}

function offsetText(form: string, minutes: number): string {
  if (form.startsWith('Z') && minutes === 0) {
    return 'Z';
  }
  const size = Math.abs(minutes);
  const sign = minutes < 0 ? '-' : '+';
  const hours = two(Math.floor(size / 60));
  const rest = two(size % 60);
  return form.endsWith('07') ? sign + hours : form.includes(':') ? `${sign}${hours}:${rest}${form.endsWith(':00:00') ? ':00' : ''}` : sign + hours + rest;
}
