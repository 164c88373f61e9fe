import { parseDuration, parseFloatGo } from 'svc/query';

import type { NumberLiteral } from './ast.ts';
import { quoted } from './go-text.ts';
import type { Stream } from './token-stream.ts';
import type { Token } from './token.ts';

const underscored = /^(?:0[xX]_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0(?:_?[0-7]+)+|\d+(?:_\d+)*)$/;
const largestInteger = 0x7fffffffffffffffn;

/** A whole number by the rules of Go, where a leading zero means octal. */
function integer(text: string): number | undefined {
  if (!underscored.test(text)) {
    return undefined;
  }
  const digits = text.replaceAll('_', '');
  const value = BigInt(
    /^0[0-7]+$/.test(digits)
      ? `0o${digits.slice(1)}`
      : /^0[89]|^0\d/.test(digits)
        ? Number(digits)
        : digits,
  );
  return value > largestInteger ? undefined : Number(value);
}

export function parseNumber(stream: Stream, token: Token): NumberLiteral {
  return {
    node: 'number',
    value: numberValue(stream, token),
    duration: false,
    start: token.start,
    end: token.end,
  };
}

export function numberValue(stream: Stream, token: Token): number {
  const value = integer(token.text) ?? parseFloatGo(token.text);
  if (value === undefined) {
    stream.fail(
      token.start,
      `error parsing number: strconv.ParseFloat: parsing ${quoted(token.text)}: ${/^[\d._eE+-]+$/.test(token.text) && !/_/.test(token.text) ? 'value out of range' : 'invalid syntax'}`,
    );
  }
  return value;
}

/** A duration is a number of seconds. */
export function parseDurationLiteral(stream: Stream, token: Token): NumberLiteral {
  let ms: number;
  try {
    ms = parseDuration(token.text);
  } catch {
    stream.fail(token.start, whyNoDuration(token.text));
  }
  return { node: 'number', value: ms / 1000, duration: true, start: token.start, end: token.end };
}

const units = ['y', 'w', 'd', 'h', 'm', 's', 'ms'];

function whyNoDuration(text: string): string {
  const stranger = [...text.matchAll(/[a-z]+/g)]
    .map(([unit]) => unit)
    .find((unit) => !units.includes(unit));
  if (stranger !== undefined) {
    return `unknown unit ${quoted(stranger)} in duration ${quoted(text)}`;
  }
  return isOrdered(text) ? 'duration out of range' : `not a valid duration string: ${quoted(text)}`;
}

function isOrdered(text: string): boolean {
  const used = [...text.matchAll(/[a-z]+/g)].map(([unit]) => units.indexOf(unit));
  return used.every((unit, index) => index === 0 || unit > used[index - 1]!);
}

/** A number or a duration with or without a sign; `wrong` when the next token is neither. */
export function signedValue(stream: Stream, wrong: () => never): number {
  const negative = stream.is('-');
  if (negative || stream.is('+')) {
    stream.take();
  }
  const { value } = parseNumberOrDuration(stream) ?? wrong();
  return negative ? -value : value;
}

/** A number or a duration, or undefined when the next token is neither. */
export function parseNumberOrDuration(stream: Stream): NumberLiteral | undefined {
  const { kind } = stream.peek();
  return kind === 'number'
    ? parseNumber(stream, stream.take())
    : kind === 'duration'
      ? parseDurationLiteral(stream, stream.take())
      : undefined;
}
