import { parseDuration, parseFloatGo, type QueryError, readGoDuration } from 'svc/query';
import { unquote } from 'svc/template';

import { parseByteSize } from './byte-size.ts';
import { parseError } from './parse-error.ts';

export interface Token {
  /** A sign is its own kind; all else is one of these. */
  readonly kind:
    | 'IDENTIFIER'
    | 'STRING'
    | 'NUMBER'
    | 'DURATION'
    | 'BYTES'
    | 'RANGE'
    | 'PARSER_FLAG'
    | '$end'
    | '$unk'
    | 'sign';
  /** Text as written; of a string, its value. */
  readonly text: string;
  /**
   * Value of a number, the milliseconds of a range, the nanoseconds of a duration or the bytes of a
   * size.
   */
  readonly value: number;
  readonly at: number;
}

/** Longer texts are no queries. */
const longestQuery = 131_072;

const blank = /(?:[ \t\r\n]|#[^\n]*)*/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const numeral = /(?:\d|\.\d)(?:[0-9A-Za-z\u00b5\u03bc._]|(?<=[eE])(?<!0[xX][0-9a-fA-F]*)[+-])*/y;
/** Whole numbers to another base are no floats in Go; hexadecimal ones with an exponent are. */
const radixInteger = /^0[xXbBoO][0-9a-fA-F]+$/;
/** Sizes in values are read in any case; in a query, `1mb` would be a minute and a letter. */
const byteLiteral = /^[\d.BikKMGTP]+$/;
const quoted = /"(?:\\[^\n]|[^"\\\n])*"|`[^`]*`/y;
const flag = /--[a-z-]+/y;
const signs = [
  '|=',
  '|~',
  '|>',
  '!=',
  '!~',
  '!>',
  '=~',
  '==',
  '>=',
  '<=',
  '{',
  '}',
  '(',
  ')',
  ',',
  '=',
  '|',
  '>',
  '<',
  '+',
  '-',
  '*',
  '/',
  '%',
  '^',
] as const;

export function tokenize(query: string): readonly Token[] {
  if (query.length > longestQuery) {
    throw parseError(`input size too long (${query.length} > ${longestQuery})`);
  }
  const found: Token[] = [];
  let at = matched(query, 0, blank).length;
  while (at < query.length) {
    const token = tokenAt(query, at);
    found.push(token.token);
    at = token.end + matched(query, token.end, blank).length;
  }
  found.push({ kind: '$end', text: '', value: 0, at: query.length });
  return found;
}

/** Lines and columns begin at one, and count characters. */
export function placeOf(query: string, at: number): { line: number; column: number } {
  const before = query.slice(0, at);
  return {
    line: before.split('\n').length,
    column: Array.from(before.slice(before.lastIndexOf('\n') + 1)).length + 1,
  };
}

function tokenAt(query: string, at: number): { token: Token; end: number } {
  const made = (
    kind: Token['kind'],
    length: number,
    text = query.slice(at, at + length),
    value = 0,
  ): { token: Token; end: number } => ({
    token: { kind, text, value, at },
    end: at + length,
  });
  const fail = (message: string): QueryError => parseError(message, placeOf(query, at));
  const first = query[at]!;
  if (first === '"' || first === '`') {
    const text = matched(query, at, quoted);
    const value = first === '`' ? text.slice(1, -1) : unquote(text.slice(1, -1));
    if (text === '' || value === undefined) {
      throw fail(text === '' ? 'literal not terminated' : 'invalid syntax');
    }
    return made('STRING', text.length, value);
  }
  if (first === '[') {
    const close = query.indexOf(']', at);
    if (close < 0) {
      throw fail("missing closing ']' in duration");
    }
    return made(
      'RANGE',
      close + 1 - at,
      undefined,
      rangeOf(query.slice(at + 1, close).trim(), fail),
    );
  }
  const name = matched(query, at, identifier);
  if (name !== '') {
    return made('IDENTIFIER', name.length);
  }
  const number = matched(query, at, numeral);
  if (number !== '') {
    return numberToken(number, made, fail);
  }
  const parserFlag = matched(query, at, flag);
  if (parserFlag !== '') {
    return made('PARSER_FLAG', parserFlag.length);
  }
  const sign = signs.find((candidate) => query.startsWith(candidate, at));
  return sign === undefined
    ? made('$unk', String.fromCodePoint(query.codePointAt(at)!).length)
    : made('sign', sign.length);
}

type Made = (
  kind: Token['kind'],
  length: number,
  text?: string,
  value?: number,
) => { token: Token; end: number };

function numberToken(
  text: string,
  made: Made,
  fail: (message: string) => QueryError,
): { token: Token; end: number } {
  if (radixInteger.test(text)) {
    throw parseError(
      `unable to parse literal as a float: strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  const number = parseFloatGo(text);
  if (number !== undefined) {
    return made('NUMBER', text.length, text, number);
  }
  const duration = durationOf(text);
  if (duration !== undefined) {
    return made('DURATION', text.length, text, duration);
  }
  const bytes = byteLiteral.test(text) ? parseByteSize(text) : undefined;
  if (bytes === undefined) {
    throw fail(`syntax error: unexpected ${text.slice(0, 64)}`);
  }
  return made('BYTES', text.length, text, bytes);
}

/** Parses a duration in nanoseconds, in either notation: `1d12h` and `1.5h`. */
export function durationOf(text: string): number | undefined {
  const go = readGoDuration(text);
  if (go !== undefined) {
    return go;
  }
  try {
    return parseDuration(text) * 1e6;
  } catch {
    return undefined;
  }
}

function rangeOf(text: string, fail: (message: string) => QueryError): number {
  const ns = durationOf(text);
  if (ns === undefined || ns <= 0) {
    throw fail(
      ns === undefined
        ? `not a valid duration string: "${text.slice(0, 64)}"`
        : 'duration must be greater than 0',
    );
  }
  return ns / 1e6;
}

function matched(query: string, at: number, form: RegExp): string {
  form.lastIndex = at;
  return form.exec(query)?.[0] ?? '';
}
