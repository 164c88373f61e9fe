import { errors } from './errors.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const week = 7 * day;
const year = 365 * day;

const form = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const units = [year, week, day, hour, minute, second, 1];

/** Max duration of the services that this follows: nanoseconds in 64 bits. */
const longest = 9_223_372_036_854;

/** `1h30m`, `500ms`, `2w`, `0`: units from large to small, each at most once. In milliseconds. */
export function parseDuration(text: string): number {
  const parts = form.exec(text);
  if (text === '0') {
    return 0;
  }
  if (parts === null || text === '') {
    throw errors.duration({ text: JSON.stringify(text.slice(0, 64)) });
  }
  const total = units.reduce((sum, unit, index) => sum + unit * Number(parts[index + 1] ?? 0), 0);
  if (total > longest) {
    throw errors.duration_range({ text: text.slice(0, 64) });
  }
  return total;
}

const written: readonly (readonly [name: string, unit: number, onlyWhole: boolean])[] = [
  ['y', year, true],
  ['w', week, true],
  ['d', day, true],
  ['h', hour, false],
  ['m', minute, false],
  ['s', second, false],
  ['ms', 1, false],
];

/** Years, weeks and days only where nothing remains: 26 hours are `1d2h` to nobody, but `26h`. */
export function formatDuration(ms: number): string {
  if (ms === 0) {
    return '0s';
  }
  let rest = Math.abs(Math.trunc(ms));
  let text = ms < 0 ? '-' : '';
  for (const [name, unit, onlyWhole] of written) {
    const count = Math.floor(rest / unit);
    if (count > 0 && !(onlyWhole && rest % unit !== 0)) {
      text += `${count}${name}`;
      rest -= count * unit;
    }
  }
  return text;
}

const nanoseconds: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
};
const goForm = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|[\u00b5\u03bc]s|ms|s|m|h))+)$/;
const goPart = /(\d+\.?\d*|\.\d+)(ns|us|[\u00b5\u03bc]s|ms|s|m|h)/g;

/** `1.5h`, `300ms`, `-10µs`, `1h2m`: any units in any order. In nanoseconds; undefined when the text is no duration. */
export function readGoDuration(text: string): number | undefined {
  if (text.length > 128 || !goForm.test(text)) {
    return undefined;
  }
  let total = 0;
  for (const [, amount, unit] of text.matchAll(goPart)) {
    total += Number(amount) * nanoseconds[unit!]!;
  }
  return total > 2 ** 63 ? undefined : text.startsWith('-') ? -total : total;
}

/** Returns Go's complaint about a text that is not a duration. */
export function goDurationComplaint(text: string): string {
  const quoted = JSON.stringify(text);
  const number =
    /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|[\u00b5\u03bc]s|ms|s|m|h))*(?:\d+\.?\d*|\.\d+)/.exec(
      text,
    );
  const unit = number === null ? undefined : /^[^.\d]*/.exec(text.slice(number[0].length))![0];
  if (unit === undefined || unit in nanoseconds) {
    return `time: invalid duration ${quoted}`;
  }
  return unit === ''
    ? `time: missing unit in duration ${quoted}`
    : `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
}

/** Parses a duration like `readGoDuration`, and throws if it is invalid. */
export function parseGoDuration(text: string): number {
  const ns = readGoDuration(text);
  if (ns === undefined) {
    throw errors.go_duration({ text: JSON.stringify(text.slice(0, 64)) });
  }
  return ns;
}

/** A stretch of time as people and models ask for it. */
export interface AskedWindow {
  readonly last?: string | undefined;
  readonly until?: string | undefined;
}

/** JSON Schema of its fields, for the params of skills. */
export const askedWindow = {
  last: {
    type: 'string',
    pattern: '^(\\d+(ms|[smhdw]))+$',
    examples: ['2h'],
    maxLength: 40,
    description: 'How far back to look, such as 30m or 2h; default: 1h.',
  },
  until: {
    type: 'string',
    format: 'date-time',
    description: 'End of the window, RFC 3339; default: now.',
  },
} as const;

const longestMs = 31 * 86_400_000;

/** Returns the window in milliseconds. */
export function windowAsked(
  { last = '1h', until }: AskedWindow,
  now: number,
): { readonly start: number; readonly end: number } {
  const end = until === undefined ? now : Date.parse(until);
  const span = parseDuration(last);
  if (Number.isNaN(end) || span <= 0 || span > longestMs) {
    throw errors.last();
  }
  return { start: end - span, end };
}
