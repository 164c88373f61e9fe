import { isSvcError, messageOf } from 'svc/sdk';
import { parseDuration, parseFloatGo, queryError } from 'svc/query';

import type { Asked, Pairs } from '../thread/contract.ts';

const maxParameters = 1_000;
const farthestMs = 8.64e15;
/** Times that clients send to mean "unlimited". */
const farthest: Readonly<Record<string, number>> = {
  '-292273086-05-16T16:47:06Z': -8.64e15,
  '292277025-08-18T07:12:54.999999999Z': 8.64e15,
};
const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const longestMs = 9_223_372_036_854;

/**
 * Query parameters, parsed as Prometheus does: of repeated ones the first counts, an empty one is
 * absent.
 */
export class Parameters {
  readonly #pairs: Pairs;

  constructor(pairs: Pairs) {
    this.#pairs = pairs;
  }

  static of({ pairs, form }: Pick<Asked, 'pairs' | 'form'>): Parameters {
    const sent =
      form === undefined || form.length === 0
        ? []
        : [
            ...new URLSearchParams(
              Buffer.from(form.buffer, form.byteOffset, form.byteLength).toString('utf8'),
            ),
          ];
    if (sent.length > maxParameters) {
      throw queryError(
        'bad_data',
        `the form has ${sent.length} parameters; at most ${maxParameters} are read`,
      );
    }
    return new Parameters([...sent, ...pairs]);
  }

  text(name: string): string {
    return this.#pairs.find(([known]) => known === name)?.[1] ?? '';
  }

  all(name: string): string[] {
    return this.#pairs.filter(([known]) => known === name).map(([, value]) => value);
  }

  /** A moment that must be there; in milliseconds. */
  time(name: string): number {
    const text = this.text(name);
    return (
      readTime(text) ?? refuse(name, `cannot parse ${JSON.stringify(text)} to a valid timestamp`)
    );
  }

  timeOr(name: string, otherwise: number): number {
    const text = this.text(name);
    return text === ''
      ? otherwise
      : (readTime(text) ??
          refuse(
            name,
            `Invalid time value for '${name}': cannot parse ${JSON.stringify(text)} to a valid timestamp`,
          ));
  }

  /** From `start` to `end`; all times without them. */
  window(): { mint: number; maxt: number } {
    const mint = this.timeOr('start', -farthestMs);
    const maxt = this.timeOr('end', farthestMs);
    return maxt < mint
      ? refuse('end', 'end timestamp must not be before start time')
      : { mint, maxt };
  }

  /** Seconds, or a duration such as 5m; in milliseconds. */
  duration(name: string): number {
    const text = this.text(name);
    const seconds = parseFloatGo(text);
    if (seconds !== undefined && !Number.isNaN(seconds)) {
      return Math.abs(seconds) * 1000 > longestMs
        ? refuse(
            name,
            `cannot parse ${JSON.stringify(text)} to a valid duration. It overflows int64`,
          )
        : seconds * 1000;
    }
    try {
      return parseDuration(text);
    } catch (error) {
      return isSvcError(error)
        ? refuse(name, `cannot parse ${JSON.stringify(text)} to a valid duration`)
        : raise(error);
    }
  }

  durationIf(name: string): number | undefined {
    return this.text(name) === '' ? undefined : this.duration(name);
  }

  /** Returns the max entries of an answer; undefined for all. */
  limit(name = 'limit'): number | undefined {
    const text = this.text(name);
    if (text === '') {
      return undefined;
    }
    if (!/^\d{1,9}$/.test(text)) {
      refuse(
        name,
        `cannot parse ${JSON.stringify(text.slice(0, 40))} to a whole number that is not negative`,
      );
    }
    return Number(text) === 0 ? undefined : Number(text);
  }

  flag(name: string): boolean | undefined {
    const text = this.text(name);
    return text === ''
      ? undefined
      : /^(?:true|false|1|0)$/.test(text)
        ? /^[t1]/.test(text)
        : refuse(name, `cannot parse ${JSON.stringify(text.slice(0, 40))}; it is true or false`);
  }
}

export const refuse = (parameter: string, reason: string): never => {
  throw queryError('bad_data', `invalid parameter "${parameter}": ${reason}`);
};

/** Runs what reads a parameter, and names the parameter where that complains. */
export function within<T>(parameter: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    return isSvcError(error) ? refuse(parameter, messageOf(error)) : raise(error);
  }
}

function raise(error: unknown): never {
  throw error;
}

function readTime(text: string): number | undefined {
  const seconds = parseFloatGo(text);
  if (seconds !== undefined) {
    const ms = Math.round(seconds * 1000);
    return Math.abs(ms) <= 8.64e15 ? ms : undefined;
  }
  const parts = rfc3339.exec(text);
  if (parts === null) {
    return Object.hasOwn(farthest, text) ? farthest[text] : undefined;
  }
  const whole = Date.parse(`${parts[1]}${parts[3]}`);
  return Number.isNaN(whole) ? undefined : whole + Math.floor(Number(parts[2] ?? 0) * 1000);
}
