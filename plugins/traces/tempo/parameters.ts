import { parseDuration, queryError, readGoDuration } from 'svc/query';

import type { ParameterList } from './parameter-list.ts';

const longestText = 64 * 1024;
const usualPoints = 120;
const usualExemplars = 100;

export interface Window {
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
}

/** The parameters of one call as Tempo's clients give them, with Tempo's defaults and refusals. */
export class Parameters {
  readonly #list: ParameterList;
  readonly #nowMs: number;

  constructor(list: ParameterList, nowMs: number) {
    this.#list = list;
    this.#nowMs = nowMs;
  }

  /** Undefined where it is absent or empty. */
  text(name: string): string | undefined {
    const text = this.#list.find(([other]) => other === name)?.[1];
    if (text !== undefined && Buffer.byteLength(text) > longestText) {
      throw queryError(
        'bad_data',
        `invalid ${name}: it has ${Buffer.byteLength(text)} bytes, ${longestText} are the limit`,
      );
    }
    return text === '' ? undefined : text;
  }

  /**
   * Returns the window from `start`, or this long before the end, to `end`, which defaults to now.
   */
  window(usualMs: number): Window {
    const end = this.#instant('end') ?? this.#nowMs;
    const start = this.#instant('start') ?? end - usualMs;
    if (start >= end) {
      throw queryError(
        'bad_data',
        `http parameter start must be before end. received start=${seconds(start)} end=${seconds(end)}`,
      );
    }
    return { start, end };
  }

  /** The same, no longer than `maxMs`. */
  windowWithin(usualMs: number, maxMs: number): Window {
    const window = this.window(usualMs);
    if (window.end - window.start > maxMs) {
      throw queryError(
        'bad_data',
        `range specified by start and end exceeds ${goDuration(maxMs)}. received start=${seconds(window.start)} end=${seconds(window.end)}`,
      );
    }
    return window;
  }

  /** A whole number above nothing. */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) {
      return undefined;
    }
    if (!/^[-+]?\d{1,15}$/.test(text)) {
      throw queryError(
        'bad_data',
        `invalid ${name}: strconv.Atoi: parsing ${JSON.stringify(text.slice(0, 100))}: invalid syntax`,
      );
    }
    if (Number(text) < 1) {
      throw queryError('bad_data', `invalid ${name}: must be a positive number`);
    }
    return Number(text);
  }

  /** Returns the number of exemplars; Tempo shows a hundred by default, and 0 means unset. */
  exemplars(): number {
    return this.text('exemplars') === '0'
      ? usualExemplars
      : (this.count('exemplars') ?? usualExemplars);
  }

  /** Step in milliseconds; by default whole seconds that make about 120 points of the window. */
  step({ start, end }: Window): number {
    const text = this.text('step');
    if (text === undefined) {
      return Math.max(1_000, Math.ceil((end - start) / usualPoints / 1_000) * 1_000);
    }
    const step = /^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1_000 : durationMs(text);
    if (step === undefined || !(step > 0)) {
      throw queryError(
        'bad_data',
        `invalid step: cannot parse ${JSON.stringify(text.slice(0, 100))} to a valid duration`,
      );
    }
    return step;
  }

  #instant(name: string): number | undefined {
    const text = this.text(name);
    const at = text === undefined ? undefined : instantMs(text);
    if (text !== undefined && at === undefined) {
      throw queryError(
        'bad_data',
        `invalid ${name}: strconv.ParseInt: parsing ${JSON.stringify(text.slice(0, 100))}: invalid syntax`,
      );
    }
    return at;
  }
}

const seconds = (ms: number): number => Math.floor(ms / 1_000);

function durationMs(text: string): number | undefined {
  const nanos = readGoDuration(text);
  if (nanos !== undefined) {
    return nanos / 1e6;
  }
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}

/** `168h0m0s`. */
function goDuration(ms: number): string {
  const whole = Math.floor(ms / 1_000);
  return `${Math.floor(whole / 3_600)}h${Math.floor(whole / 60) % 60}m${whole % 60}s`;
}

/** Max time that a Date can hold. */
const maxMs = 8.64e15;

/** An instant in milliseconds: seconds of up to ten digits, with a fraction or without, nanoseconds, or RFC 3339. */
function instantMs(text: string): number | undefined {
  const ms = msOf(text);
  return ms === undefined || Number.isNaN(ms) || ms > maxMs ? undefined : ms;
}

function msOf(text: string): number | undefined {
  if (/^\d{1,10}(?:\.\d{1,9})?$/.test(text)) {
    return Math.round(Number(text) * 1e6) / 1e3;
  }
  if (/^\d{11,19}$/.test(text)) {
    return Number(BigInt(text) / 1_000n) / 1_000;
  }
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i.test(text)
    ? Date.parse(text)
    : undefined;
}
