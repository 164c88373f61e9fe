import type { QueryError } from 'svc/query';

import { rangeOps, vectorOps } from './ast.ts';
import { placeOf, type Token, tokenize } from './lexer.ts';
import { parseError } from './parse-error.ts';

/** Parentheses and calls within each other, this deep at most. */
const deepest = 100;
/** Max tokens: they determine the cost of reading a query, not the length of its text. */
const maxTokens = 2_000;

/** The tokens of a query, one after another, and the complaints about them. */
export class Cursor {
  readonly query: string;
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;

  constructor(query: string) {
    this.query = query;
    this.#tokens = tokenize(query);
    if (this.#tokens.length > maxTokens) {
      throw parseError(
        `a query has at most ${maxTokens} parts, this one has ${this.#tokens.length}`,
      );
    }
  }

  get token(): Token {
    return this.#tokens[this.#position]!;
  }

  get following(): Token {
    return this.#tokens[Math.min(this.#position + 1, this.#tokens.length - 1)]!;
  }

  take(): Token {
    const token = this.token;
    this.#position = Math.min(this.#position + 1, this.#tokens.length - 1);
    return token;
  }

  isSign(text: string): boolean {
    return this.token.kind === 'sign' && this.token.text === text;
  }

  isWord(text: string): boolean {
    return this.token.kind === 'IDENTIFIER' && this.token.text === text;
  }

  takeSign(text: string): boolean {
    const found = this.isSign(text);
    if (found) {
      this.take();
    }
    return found;
  }

  takeWord(text: string): boolean {
    const found = this.isWord(text);
    if (found) {
      this.take();
    }
    return found;
  }

  expectSign(text: string, ...expecting: readonly string[]): Token {
    if (!this.isSign(text)) {
      throw this.unexpected(...expecting);
    }
    return this.take();
  }

  expect(kind: Token['kind'], ...expecting: readonly string[]): Token {
    if (this.token.kind !== kind) {
      throw this.unexpected(...expecting);
    }
    return this.take();
  }

  nested<T>(work: () => T): T {
    this.#depth += 1;
    if (this.#depth > deepest) {
      throw this.fail(`nested more than ${deepest} levels deep`);
    }
    const result = work();
    this.#depth -= 1;
    return result;
  }

  /** Returns whether a range occurs before the currently open parenthesis closes. */
  rangeBeforeClose(): boolean {
    let open = 0;
    for (const token of this.#tokens.slice(this.#position)) {
      open += token.kind !== 'sign' ? 0 : token.text === '(' ? 1 : token.text === ')' ? -1 : 0;
      if (token.kind === 'RANGE' || open < 0) {
        return token.kind === 'RANGE';
      }
    }
    return false;
  }

  unexpected(...expecting: readonly string[]): QueryError {
    const { kind, text, at } = this.token;
    const wanted = expecting.length === 0 ? '' : `, expecting ${expecting.join(' or ')}`;
    const found =
      kind === 'sign'
        ? text
        : kind === 'IDENTIFIER'
          ? (keywordOf(this.query, text, at + text.length) ?? kind)
          : kind;
    const message = `syntax error: unexpected ${found}${wanted}`;
    return this.query === '' ? parseError(message) : this.fail(message);
  }

  fail(message: string): QueryError {
    return parseError(message, placeOf(this.query, this.token.at));
  }
}

/** Words that cannot be names; errors show them unchanged. */
const keywords: ReadonlySet<string> = new Set([
  ...[
    'by',
    'without',
    'bool',
    'offset',
    'on',
    'ignoring',
    'group_left',
    'group_right',
    'or',
    'and',
    'unless',
    'unwrap',
  ],
  ...[
    'json',
    'regexp',
    'logfmt',
    'unpack',
    'pattern',
    'label_format',
    'line_format',
    'decolorize',
    'drop',
    'keep',
  ],
]);

/** Words that are names unless they are called. */
const functions: ReadonlySet<string> = new Set([
  ...rangeOps,
  ...vectorOps,
  'vector',
  'label_replace',
  'ip',
  'bytes',
  'duration',
  'duration_seconds',
]);

const called = /^\s*(?:\(|(?:by|without)\s*\()/i;

/** The word as the language knows it; undefined where it is a name. */
function keywordOf(query: string, word: string, end: number): string | undefined {
  const lower = word.toLowerCase();
  return keywords.has(lower) || (functions.has(lower) && called.test(query.slice(end, end + 256)))
    ? lower
    : undefined;
}
