import { quoted } from './go-text.ts';

/** Returns the end of the string literal that starts here, or what is wrong with it. */
export function scanString(input: string, from: number): number | string {
  const quote = input[from]!;
  for (let at = from + 1; at < input.length; at++) {
    const character = input[at];
    if (character === quote) {
      return at + 1;
    }
    if (quote === '`') {
      continue;
    }
    if (character === '\n') {
      return 'unterminated quoted string';
    }
    if (character === '\\') {
      const end = scanEscape(input, at + 1, quote);
      if (typeof end === 'string') {
        return end;
      }
      at = end - 1;
    }
  }
  return quote === '`' ? 'unterminated raw string' : 'unterminated quoted string';
}

const numeric: Readonly<Record<string, readonly [length: number, base: number]>> = {
  x: [2, 16],
  u: [4, 16],
  U: [8, 16],
};

/** Returns the end of the escape whose first character after the backslash is here. */
function scanEscape(input: string, from: number, quote: string): number | string {
  const kind = input[from];
  if (kind === undefined) {
    return 'escape sequence not terminated';
  }
  if ('abfnrtv\\'.includes(kind) || kind === quote) {
    return from + 1;
  }
  const octal = kind >= '0' && kind <= '7';
  const form = octal ? ([3, 8] as const) : numeric[kind];
  if (form === undefined) {
    return `unknown escape sequence ${named(input, from)}`;
  }
  const [length, base] = form;
  const first = octal ? from : from + 1;
  let value = 0;
  for (let at = first; at < first + length; at++) {
    if (at >= input.length) {
      return 'escape sequence not terminated';
    }
    const digit = parseInt(input[at]!, base);
    if (Number.isNaN(digit)) {
      return `illegal character ${named(input, at)} in escape sequence`;
    }
    value = value * base + digit;
  }
  const highest = kind === 'u' || kind === 'U' ? 0x10ffff : 255;
  return value > highest || (value >= 0xd800 && value < 0xe000)
    ? 'escape sequence is an invalid Unicode code point'
    : first + length;
}

function named(input: string, at: number): string {
  const code = input.codePointAt(at)!;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')} '${String.fromCodePoint(code)}'`;
}

type Scanned =
  | { readonly kind: 'number' | 'duration'; readonly end: number }
  | { readonly reason: string };

/** A number of any form, or else a duration. */
export function scanNumber(input: string, from: number): Scanned {
  const { good, end } = scanDigits(input, from);
  if (good) {
    return { kind: 'number', end };
  }
  durationTail.lastIndex = end;
  const tail = durationTail.exec(input);
  return tail !== null && tail[2] === ''
    ? { kind: 'duration', end: durationTail.lastIndex }
    : {
        reason: `bad number or duration syntax: ${quoted(input.slice(from, tail === null ? end : durationTail.lastIndex))}`,
      };
}

/** The units behind the digits that were read already; the second group is what must not follow. */
const durationTail = /([smhdwy]s?(?:\d+[smhdw]s?)*)(\d*[A-Za-z0-9_]?)/y;

/** Reads as far as a number may go; it need not be one, which only converting it shows. */
function scanDigits(input: string, from: number): { readonly good: boolean; readonly end: number } {
  let at = from;
  const take = (set: string): boolean => {
    const found = at < input.length && set.includes(input[at]!);
    at += found ? 1 : 0;
    return found;
  };
  let digits = '0123456789';
  if (take('0') && take('xX')) {
    take('_');
    digits = '0123456789abcdefABCDEF';
  }
  take('.');
  take(digits);
  let dots = 0;
  let exponents = 0;
  while (at < input.length && `${digits}._eE`.includes(input[at]!)) {
    const hexadecimal = digits.length > 10;
    if (input[at] === '.') {
      at++;
      if (dots++ > 0 || take('_.') || hexadecimal) {
        return { good: false, end: at };
      }
    } else if ('eE'.includes(input[at]!)) {
      at++;
      if (exponents++ > 0) {
        return { good: false, end: at };
      }
      take('+-');
      if (take('._eE') || at >= input.length) {
        return { good: false, end: at };
      }
    } else if (take('_')) {
      if (take('._eE') || at >= input.length) {
        return { good: false, end: at };
      }
    } else {
      while (take(digits));
    }
  }
  return { good: at > from && !/[A-Za-z0-9_]/.test(input[at] ?? ''), end: at };
}
