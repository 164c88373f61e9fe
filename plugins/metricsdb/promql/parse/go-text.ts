import { unquoteBytes } from 'svc/template';

/** Texts the way Go prints and reads them; answers and errors of PromQL are written in them. */

const shortEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

const unprintable = /[\p{C}\p{Z}]/u;

/** Prints a string as `%q` does. */
export function quoted(text: string): string {
  return enclosed(text, '"');
}

/**
 * Prints a character as `%q` does; one beyond the end of the text prints as the replacement
 * character.
 */
export function quotedCharacter(character: string): string {
  return enclosed(character === '' ? '\ufffd' : character, "'");
}

function enclosed(text: string, quote: string): string {
  let out = quote;
  for (const character of text) {
    out += escapedCharacter(character, quote);
  }
  return out + quote;
}

function escapedCharacter(character: string, quote: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) {
    return short;
  }
  if (character === quote) {
    return `\\${quote}`;
  }
  if (character === ' ' || !unprintable.test(character)) {
    return character;
  }
  const code = character.codePointAt(0)!;
  if (code >= 0xdc80 && code <= 0xdcff) {
    // A byte that is no character, as `unquoted` keeps it.
    return `\\x${(code - 0xdc00).toString(16)}`;
  }
  if (code < 0x20 || code === 0x7f) {
    return `\\x${code.toString(16).padStart(2, '0')}`;
  }
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** Returns the text of a literal, whose escapes the lexer has validated. */
export function unquoted(literal: string): string {
  const body = literal.slice(1, -1);
  return literal.startsWith('`') || !body.includes('\\')
    ? body
    : textOfBytes(unquoteBytes(body, literal[0])!);
}

/** Bytes that are no characters become lone surrogates, which `isLabelName` finds. */
function textOfBytes(bytes: Buffer): string {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes)
    ? text
    : bytes
        .toString('latin1')
        .replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
}

/** Returns whether a text can name a label: any non-empty Unicode text can. */
export const isLabelName = (name: string): boolean => name !== '' && !/\p{Surrogate}/u.test(name);

/** Shortest digits without an exponent, however long that gets. */
export function plainFloat(value: number): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  }
  const text = Object.is(value, -0) ? '-0' : String(value);
  const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) {
    return text;
  }
  const digits = parts[2]! + (parts[3] ?? '');
  const point = parts[2]!.length + Number(parts[4]);
  if (point <= 0) {
    return `${parts[1]}0.${'0'.repeat(-point)}${digits}`;
  }
  return `${parts[1]}${digits.padEnd(point, '0').slice(0, point)}${digits.length > point ? `.${digits.slice(point)}` : ''}`;
}

/**
 * Prints a number as `%g` does: shortest digits, or `precision` of them; with an exponent below
 * 1e-4 and from 1e+06, or from `precision` digits before the point.
 */
export function generalFloat(value: number, precision?: number): string {
  if (!Number.isFinite(value)) {
    return plainFloat(value);
  }
  if (value === 0) {
    return Object.is(value, -0) ? '-0' : '0';
  }
  const scientific =
    precision === undefined ? value.toExponential() : value.toExponential(precision - 1);
  const [, mantissa, exponentText] = /^(.*)e([+-]\d+)$/.exec(scientific)!;
  const exponent = Number(exponentText);
  const digits = mantissa!.includes('.') ? mantissa!.replace(/\.?0+$/, '') : mantissa!;
  if (exponent < -4 || exponent >= (precision ?? 6)) {
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  return plainFloat(Number(scientific));
}
