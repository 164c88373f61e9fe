import { parseDuration, queryError } from 'svc/query';

import { maxMs, type Nanos, parseNanos } from '../store/lines/nanos.ts';
import type { ParameterList } from '../thread/contract.ts';

const hourMs = 3_600_000;
export const maxLines = 5_000;
const usualLines = 100;
const usualFields = 1_000;
const usualFieldLines = 1_000;
const maxSteps = 11_000;
const longestQuery = 64 * 1024;

/** The parameters of one call as Loki's clients give them, with Loki's defaults and refusals. */
export class Parameters {
  readonly #list: ParameterList;
  readonly #nowMs: number;

  constructor(list: ParameterList, nowMs: number) {
    this.#list = list;
    this.#nowMs = nowMs;
  }

  text(name: string): string | undefined {
    return this.#list.find(([other]) => other === name)?.[1];
  }

  all(name: string): string[] {
    return this.#list.filter(([other]) => other === name).map(([, value]) => value);
  }

  get query(): string {
    const query = this.text('query') ?? '';
    if (Buffer.byteLength(query) > longestQuery) {
      throw queryError(
        'bad_data',
        `query too long: ${Buffer.byteLength(query)} bytes, limit: ${longestQuery}`,
      );
    }
    return query;
  }

  /**
   * Returns the window from `start`, or `since` before the end, to `end`, which defaults to now.
   */
  window(usualMs = hourMs): { readonly start: Nanos; readonly end: Nanos } {
    const now: Nanos = { ms: this.#nowMs, ns: 0 };
    const end = this.#instant('end') ?? now;
    const since = this.text('since');
    const before = since === undefined ? usualMs : this.#duration('since', since);
    const origin = end.ms > now.ms ? now : end;
    const start = this.#instant('start') ?? { ms: origin.ms - before, ns: origin.ns };
    if (end.ms < start.ms || (end.ms === start.ms && end.ns <= start.ns)) {
      throw queryError('bad_data', 'end timestamp must not be before or equal to start time');
    }
    return { start, end };
  }

  get time(): number {
    const at = this.#instant('time');
    return at === undefined ? this.#nowMs : at.ms + at.ns / 1e6;
  }

  get limit(): number {
    const text = this.text('limit');
    if (text === undefined || text === '') {
      return usualLines;
    }
    const limit = /^[-+]?\d{1,15}$/.test(text) ? Number(text) : undefined;
    if (limit === undefined) {
      throw queryError(
        'bad_data',
        `could not parse 'limit' parameter: strconv.ParseInt: parsing ${JSON.stringify(text.slice(0, 100))}: invalid syntax`,
      );
    }
    if (limit <= 0) {
      throw queryError('bad_data', 'limit must be a positive value');
    }
    if (limit > maxLines) {
      throw queryError(
        'bad_data',
        `max entries limit per query exceeded, limit > max_entries_limit_per_query (${limit} > ${maxLines})`,
      );
    }
    return limit;
  }

  get direction(): 'forward' | 'backward' {
    const text = (this.text('direction') ?? 'backward').toLowerCase();
    if (text !== 'forward' && text !== 'backward') {
      throw queryError('bad_data', `invalid direction '${text.slice(0, 100)}'`);
    }
    return text;
  }

  /** Step in milliseconds; by default 250 steps of whole seconds fill the window. */
  step({ start, end }: { readonly start: Nanos; readonly end: Nanos }): number {
    const text = this.text('step');
    const step =
      text === undefined || text === ''
        ? Math.max(1_000, Math.floor((end.ms - start.ms) / 250_000) * 1_000)
        : this.#duration('step', text);
    if (!(step > 0)) {
      throw queryError(
        'bad_data',
        'zero or negative query resolution step widths are not accepted. Try a positive integer',
      );
    }
    return step;
  }

  /** Min milliseconds between two lines; default 0. */
  get interval(): number {
    const text = this.text('interval');
    const interval = text === undefined || text === '' ? 0 : this.#duration('interval', text);
    if (interval < 0) {
      throw queryError('bad_data', 'interval must be >= 0');
    }
    return interval;
  }

  /** Max number of detected fields, and of lines to search for them. */
  get fieldLimit(): number {
    return this.#count('limit', this.#count('field_limit', usualFields));
  }

  get lineLimit(): number {
    return Math.min(maxLines, this.#count('line_limit', usualFieldLines));
  }

  assertSteps(
    { start, end }: { readonly start: Nanos; readonly end: Nanos },
    stepMs: number,
  ): void {
    if ((end.ms - start.ms) / stepMs > maxSteps) {
      throw queryError(
        'bad_data',
        'exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter',
      );
    }
  }

  #count(name: string, usual: number): number {
    const text = this.text(name) ?? '';
    return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : usual;
  }

  #instant(name: string): Nanos | undefined {
    const text = this.text(name);
    if (text === undefined || text === '') {
      return undefined;
    }
    const at = instantOf(text);
    if (at === undefined) {
      throw queryError(
        'bad_data',
        `could not parse '${name}' parameter: strconv.ParseInt: parsing ${JSON.stringify(text.slice(0, 100))}: invalid syntax`,
      );
    }
    return at;
  }

  /** Seconds as a number, or a duration such as `5m`. */
  #duration(name: string, text: string): number {
    if (/^-?\d{1,15}(?:\.\d{1,9})?$/.test(text)) {
      return Number(text) * 1_000;
    }
    try {
      return parseDuration(text);
    } catch {
      throw queryError(
        'bad_data',
        `could not parse '${name}' parameter: cannot parse ${JSON.stringify(text.slice(0, 100))} to a valid duration`,
      );
    }
  }
}

/** An instant as a parameter has it: seconds with a fraction, whole seconds of up to ten digits, nanoseconds, or RFC 3339. */
export function instantOf(text: string): Nanos | undefined {
  if (/^-?\d{1,12}\.\d{0,12}$/.test(text)) {
    const [whole, fraction = ''] = text.replace('-', '').split('.') as [string, string?];
    const nanos = fraction.padEnd(9, '0').slice(0, 9);
    return parseNanos(
      `${text.startsWith('-') ? '-' : ''}${whole}${nanos}`.replace(/^(-?)0+(?=\d)/, '$1'),
    );
  }
  if (/^-?\d+$/.test(text)) {
    return text.replace('-', '').length <= 10
      ? { ms: Number(text) * 1_000, ns: 0 }
      : parseNanos(text);
  }
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(text);
  if (!parts) {
    return undefined;
  }
  const seconds = Date.parse(`${parts[1]!.toUpperCase()}${parts[3]!.toUpperCase()}`);
  const nanos = Number((parts[2] ?? '').padEnd(9, '0'));
  return Number.isNaN(seconds) || seconds > maxMs
    ? undefined
    : { ms: seconds + Math.floor(nanos / 1e6), ns: nanos % 1e6 };
}
