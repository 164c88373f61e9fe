import { parseDuration, queryError, readGoDuration } from 'svc/query';
import { escapeAt, unquote } from 'svc/template';

import { type AttributeScope, scopeOf } from '../spans/source.ts';

export type TokenType =
  | 'attribute'
  | 'string'
  | 'integer'
  | 'float'
  | 'duration'
  | 'identifier'
  | 'word'
  | 'sign'
  | 'end';

export interface Token {
  readonly type: TokenType;
  /** Signs, words and identifiers as written; the decoded text of a string; the name of an attribute. */
  readonly text: string;
  /** Value of a number; durations are in nanoseconds. */
  readonly value: number;
  readonly scope?: AttributeScope;
  readonly ofParent?: boolean;
  readonly line: number;
  readonly column: number;
}

const longestQuery = 64 * 1024;

/** Longest first: a sign ends where a longer one cannot begin. */
const signs = [
  ...['!>>', '!<<', '&>>', '&<<'],
  ...['!=', '!~', '!>', '!<', '&&', '&>', '&<', '&~', '||', '>>', '<<', '>=', '<=', '=~'],
  ...[
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    ',',
    '|',
    '=',
    '<',
    '>',
    '~',
    '+',
    '-',
    '*',
    '/',
    '%',
    '^',
    '!',
    '.',
    ':',
  ],
];

const space = /\s*/y;
const comment = /\/\/[^\n]*/y;
const scopePrefix =
  /(?:(parent)\.)?(?:(span|resource|event|link|instrumentation)\.|\.)|(parent)\./y;
/** The names themselves instead of pieces of the query. */
const scopeNames = new Map(
  (['span', 'resource', 'event', 'link', 'instrumentation'] as const).map(
    (name): [string, AttributeScope] => [name, name],
  ),
);
const scopedIntrinsic = /(?:trace|span|event|link|instrumentation):[A-Za-z_]\w*/y;
const plainName = /[^\s{}()=~!<>&|^,"]+/y;
const identifier = /[\p{L}_][\p{L}\p{N}_]*/uy;
const duration = /(?:\d+(?:\.\d*)?(?:ns|us|[\u00b5\u03bc]s|ms|s|m|h|d|w|y))+(?![\p{L}\p{N}_])/uy;
const number = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;

/** Functions that end a pipeline with numbers. */
export const overTime = [
  'rate',
  'count_over_time',
  'min_over_time',
  'max_over_time',
  'avg_over_time',
  'sum_over_time',
  'quantile_over_time',
  'histogram_over_time',
];

const words = new Set([
  ...[
    'nil',
    'true',
    'false',
    'error',
    'ok',
    'unset',
    'unspecified',
    'internal',
    'server',
    'client',
    'producer',
    'consumer',
  ],
  ...[
    'duration',
    'childCount',
    'name',
    'status',
    'statusMessage',
    'kind',
    'parent',
    'rootName',
    'rootServiceName',
    'traceDuration',
  ],
  ...[
    'nestedSetLeft',
    'nestedSetRight',
    'nestedSetParent',
    'count',
    'avg',
    'max',
    'min',
    'sum',
    'by',
    'coalesce',
    'select',
    'with',
  ],
  ...overTime,
  'compare',
  ...['topk', 'bottomk'],
  ...[
    'trace:duration',
    'trace:rootName',
    'trace:rootService',
    'trace:id',
    'span:duration',
    'span:name',
    'span:kind',
    'span:status',
  ],
  ...[
    'span:statusMessage',
    'span:id',
    'span:parentID',
    'span:childCount',
    'event:name',
    'event:timeSinceStart',
    'link:traceID',
    'link:spanID',
  ],
  ...['instrumentation:name', 'instrumentation:version'],
]);

export const parseError = (
  at: { readonly line: number; readonly column: number },
  problem: string,
): Error =>
  queryError(
    'bad_data',
    `invalid TraceQL query: parse error at line ${at.line}, col ${at.column}: ${problem}`,
  );

/** Returns the name of a token in error messages. */
export function tokenName({ type, text }: Token): string {
  switch (type) {
    case 'end':
      return '$end';
    case 'attribute':
      return 'ATTRIBUTE';
    case 'string':
    case 'integer':
    case 'float':
    case 'duration':
    case 'identifier':
      return type.toUpperCase();
    case 'sign':
    case 'word':
      return text;
  }
}

/** All tokens of a query, the end included. */
export function tokensOf(query: string): Token[] {
  if (query.length > longestQuery) {
    throw queryError(
      'bad_data',
      `invalid TraceQL query: it has ${query.length} characters, and ${longestQuery} are the limit`,
    );
  }
  return new Lexer(query).tokens();
}

class Lexer {
  readonly #query: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(query: string) {
    this.#query = query;
  }

  tokens(): Token[] {
    for (;;) {
      this.#skipSpace();
      if (this.#at >= this.#query.length) {
        this.#push({ type: 'end', text: '', value: 0 }, 0);
        return this.#tokens;
      }
      this.#readToken();
    }
  }

  #readToken(): void {
    const char = this.#query[this.#at]!;
    const startsNumber =
      /[0-9]/.test(char) || (char === '.' && /[0-9]/.test(this.#query[this.#at + 1] ?? ''));
    if (startsNumber && this.#readNumber()) {
      return;
    }
    const prefix = this.#match(scopePrefix);
    if (prefix !== undefined) {
      this.#readAttribute(prefix);
    } else if (char === '"' || char === '`') {
      const { text, end } = this.#quoted(this.#at);
      this.#push({ type: 'string', text, value: 0 }, end - this.#at);
    } else {
      this.#readWordOrSign();
    }
  }

  #readNumber(): boolean {
    const span = this.#match(duration)?.[0];
    const ns = span === undefined ? undefined : nanosecondsOf(span);
    if (span !== undefined && ns !== undefined) {
      this.#push({ type: 'duration', text: span, value: ns }, span.length);
      return true;
    }
    const digits = this.#match(number)?.[0];
    if (digits === undefined) {
      return false;
    }
    this.#push(
      { type: /^\d+$/.test(digits) ? 'integer' : 'float', text: digits, value: Number(digits) },
      digits.length,
    );
    return true;
  }

  #readAttribute(prefix: RegExpExecArray): void {
    const start = this.#at + prefix[0].length;
    const name = this.#attributeName(start);
    if (name.text === '') {
      throw parseError(
        this.#place(start),
        'syntax error: unexpected END_ATTRIBUTE, expecting IDENTIFIER',
      );
    }
    const ofParent = prefix[1] !== undefined || prefix[3] !== undefined;
    const scope = scopeNames.get(prefix[2] ?? '') ?? scopeOf(name.text);
    this.#push(
      { type: 'attribute', text: name.text, value: 0, scope, ...(ofParent && { ofParent }) },
      name.end - this.#at,
    );
  }

  #readWordOrSign(): void {
    const word = this.#match(scopedIntrinsic)?.[0] ?? this.#match(identifier)?.[0];
    const sign =
      word === undefined
        ? signs.find((candidate) => this.#query.startsWith(candidate, this.#at))
        : undefined;
    if (word !== undefined) {
      this.#push(
        { type: words.has(word) ? 'word' : 'identifier', text: word, value: 0 },
        word.length,
      );
    } else if (sign !== undefined) {
      this.#push({ type: 'sign', text: sign, value: 0 }, sign.length);
    } else {
      throw parseError(
        this.#place(),
        `syntax error: unexpected ${JSON.stringify(String.fromCodePoint(this.#query.codePointAt(this.#at)!))}`,
      );
    }
  }

  #skipSpace(): void {
    for (;;) {
      const [blank] = this.#match(space)!;
      for (let i = blank.indexOf('\n'); i >= 0; i = blank.indexOf('\n', i + 1)) {
        this.#line++;
        this.#lineStart = this.#at + i + 1;
      }
      this.#at += blank.length;
      const remark = this.#match(comment);
      if (remark === undefined) {
        return;
      }
      this.#at += remark[0].length;
    }
  }

  /** Reads a name up to the next space or sign; parts of it may be quoted. */
  #attributeName(start: number): { text: string; end: number } {
    let text = '';
    let end = start;
    for (;;) {
      const plain = this.#match(plainName, end)?.[0];
      if (plain !== undefined) {
        text += plain;
        end += plain.length;
      } else if (this.#query[end] === '"') {
        const part = this.#quoted(end);
        text += part.text;
        end = part.end;
      } else {
        return { text, end };
      }
    }
  }

  /** The text between quotes from `from`, and where it ends. */
  #quoted(from: number): { text: string; end: number } {
    const query = this.#query;
    const quote = query[from]!;
    for (let at = from + 1; at < query.length; at++) {
      const char = query[at]!;
      if (char === quote) {
        const inside = query.slice(from + 1, at);
        return { text: quote === '`' ? inside : unquote(inside)!, end: at + 1 };
      }
      if (quote === '"' && char === '\n') {
        break;
      }
      if (quote === '"' && char === '\\') {
        const escape = escapeAt(query, at);
        if (escape === undefined) {
          throw parseError(this.#place(at), 'invalid char escape');
        }
        at = escape.end - 1;
      }
    }
    throw parseError(this.#place(), 'literal not terminated');
  }

  #match(form: RegExp, at = this.#at): RegExpExecArray | undefined {
    form.lastIndex = at;
    return form.exec(this.#query) ?? undefined;
  }

  #push(token: Omit<Token, 'line' | 'column'>, length: number): void {
    this.#tokens.push({ ...token, ...this.#place() });
    this.#at += length;
  }

  #place(at = this.#at): { line: number; column: number } {
    return { line: this.#line, column: at - this.#lineStart + 1 };
  }
}

function nanosecondsOf(text: string): number | undefined {
  const ns = readGoDuration(text);
  if (ns !== undefined || /[.nu\u00b5\u03bc]/.test(text)) {
    return ns;
  }
  try {
    return parseDuration(text) * 1e6;
  } catch {
    // Units out of order, such as 1s1h1d: then it is no duration, and the parser says what it met instead.
    return undefined;
  }
}
