import type { Literal } from './ast.ts';
import { templateError } from './template-error.ts';
import { unquote, unquoteChar } from './quoting.ts';

export type Token = {
  readonly at: number;
  /** True if white space precedes it: `.a .b` are two values, `.a.b` is one. */
  readonly spaced: boolean;
} & (
  | {
      readonly kind: 'text' | 'string' | 'number' | 'char' | 'field' | 'variable' | 'word';
      readonly text: string;
    }
  | { readonly kind: '{{' | '}}' | '|' | '(' | ')' | ':=' | '=' | ',' | '.' | 'end' }
);

const space = /[ \t\r\n]*/y;
const word = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const number =
  /[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)/y;
const quoted = /"(?:\\[^\n]|[^"\\\n])*"/y;
const raw = /`[^`]*`/y;
const char = /'(?:\\[^\n]+?|[^'\\\n])'/uy;
const signs = [':=', '|', '(', ')', '=', ',', '.'] as const;

/**
 * Splits the template into tokens; text outside `{{ }}` loses the white space that `{{-` and `-}}`
 * trim.
 */
export function tokens(source: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  let trimNext = false;
  while (at < source.length) {
    const open = source.indexOf('{{', at);
    const end = open < 0 ? source.length : open;
    const trimEnd = open >= 0 && source[open + 2] === '-' && /\s/.test(source[open + 3] ?? '');
    let text = source.slice(at, end);
    text = trimNext ? text.trimStart() : text;
    text = trimEnd ? text.trimEnd() : text;
    if (text !== '') {
      found.push({ kind: 'text', text, at, spaced: false });
    }
    if (open < 0) {
      break;
    }
    const action = actionTokens(source, open, trimEnd ? open + 3 : open + 2, found);
    at = action.end;
    trimNext = action.trim;
  }
  found.push({ kind: 'end', at: source.length, spaced: false });
  return found;
}

/** Reads one `{{ … }}` whose inside starts at `from`; returns where the text continues. */
function actionTokens(
  source: string,
  open: number,
  from: number,
  found: Token[],
): { end: number; trim: boolean } {
  const comment = skip(source, from, space);
  if (source.startsWith('/*', comment)) {
    const close = source.indexOf('*/', comment + 2);
    const tail = close < 0 ? undefined : closing(source, close + 2);
    if (tail === undefined) {
      throw templateError(
        source,
        open,
        close < 0 ? 'unclosed comment' : 'comment ends before closing delimiter',
      );
    }
    return tail;
  }
  found.push({ kind: '{{', at: open, spaced: false });
  let at = from;
  for (;;) {
    const tail = closing(source, at);
    if (tail !== undefined) {
      found.push({ kind: '}}', at, spaced: false });
      return tail;
    }
    const start = skip(source, at, space);
    const spaced = start > at;
    const closed = closing(source, start);
    if (closed !== undefined) {
      found.push({ kind: '}}', at: start, spaced });
      return closed;
    }
    if (start >= source.length) {
      throw templateError(source, open, 'unclosed action');
    }
    const token = tokenAt(source, start, spaced);
    found.push(token.token);
    at = token.end;
  }
}

/** Returns where the text continues after a `}}` or ` -}}` at this position. */
function closing(source: string, at: number): { end: number; trim: boolean } | undefined {
  if (source.startsWith('}}', at)) {
    return { end: at + 2, trim: false };
  }
  const dash = skip(source, at, space);
  return source.startsWith('-}}', dash) && /\s/.test(source[dash - 1] ?? '')
    ? { end: dash + 3, trim: true }
    : undefined;
}

function tokenAt(source: string, at: number, spaced: boolean): { token: Token; end: number } {
  const first = source[at]!;
  const fail = (message: string): Error => templateError(source, at, message);
  if (first === '"' || first === '`' || first === "'") {
    const text = match(source, at, first === '"' ? quoted : first === '`' ? raw : char);
    if (text === undefined) {
      throw fail(
        first === "'"
          ? 'unterminated character constant'
          : first === '"'
            ? 'unterminated quoted string'
            : 'unterminated raw quoted string',
      );
    }
    const inside = text.slice(1, -1);
    const value = first === '`' ? inside : first === '"' ? unquote(inside) : unquoteChar(inside);
    if (value === undefined) {
      throw fail(`bad escape in ${text}`);
    }
    return {
      token: { kind: first === "'" ? 'char' : 'string', text: value, at, spaced },
      end: at + text.length,
    };
  }
  if (/[0-9+-]/.test(first) || (first === '.' && /[0-9]/.test(source[at + 1] ?? ''))) {
    const text = match(source, at, number);
    const next = text === undefined ? '' : (source[at + text.length] ?? '');
    if (text === undefined || /[\p{L}\p{Nd}_]/u.test(next)) {
      throw fail(`bad number syntax: "${source.slice(at, at + (text?.length ?? 0) + 1)}"`);
    }
    return { token: { kind: 'number', text, at, spaced }, end: at + text.length };
  }
  if (first === '.' || first === '$') {
    const name = match(source, at + 1, word) ?? '';
    if (first === '$' || name !== '') {
      return {
        token: { kind: first === '$' ? 'variable' : 'field', text: name, at, spaced },
        end: at + 1 + name.length,
      };
    }
  }
  const name = match(source, at, word);
  if (name !== undefined) {
    return { token: { kind: 'word', text: name, at, spaced }, end: at + name.length };
  }
  const sign = signs.find((candidate) => source.startsWith(candidate, at));
  if (sign === undefined) {
    throw fail(`unexpected "${String.fromCodePoint(source.codePointAt(at)!)}" in an action`);
  }
  return { token: { kind: sign, at, spaced }, end: at + sign.length };
}

function match(source: string, at: number, form: RegExp): string | undefined {
  form.lastIndex = at;
  return form.exec(source)?.[0];
}

function skip(source: string, at: number, form: RegExp): number {
  return at + (match(source, at, form)?.length ?? 0);
}

/**
 * Parses a number by Go's distinction: one with a point or an exponent is a float, any other an
 * int.
 */
export function numeral(text: string, fail: () => Error): Literal {
  const plain = text.replaceAll('_', '');
  const digits = plain.replace(/^[+-]/, '');
  const negative = plain.startsWith('-');
  if (!/^0[xX]/.test(digits) && /[.eE]/.test(digits)) {
    const value = Number(digits);
    if (!Number.isFinite(value)) {
      throw fail();
    }
    return negative ? -value : value;
  }
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  if (/^0\d/.test(octal) || /^0[xXbBoO]$/.test(octal)) {
    throw fail();
  }
  const value = BigInt(octal) * (negative ? -1n : 1n);
  if (BigInt.asIntN(64, value) !== value) {
    throw fail();
  }
  return value;
}

/** A token as a complaint quotes it. */
export function shown(token: Token): string {
  switch (token.kind) {
    case 'end':
      return 'end of the template';
    case 'string':
      return `"${token.text}"`;
    case 'field':
      return `<.${token.text}>`;
    case 'variable':
      return `<$${token.text}>`;
    case 'text':
    case 'number':
    case 'char':
    case 'word':
      return `<${token.text}>`;
    default:
      return `"${token.kind}"`;
  }
}
