import { parseError, type Token, tokenName, tokensOf } from './lexer.ts';

const deepest = 128;

/** Where the parser stands in its tokens. */
export interface Cursor {
  readonly token: Token;
  /** The token after the next `distance` ones; the end goes on for ever. */
  peek(distance: number): Token;
  next(): Token;
  /** Whether the token is this sign or word. */
  is(text: string): boolean;
  /** Steps over this sign or word when it is next. */
  take(text: string): boolean;
  expect(text: string): void;
  unexpected(expected?: string): never;
  /** Guards recursion: a text cannot nest deeper than the stack is. */
  nested<T>(parse: () => T): T;
}

export function cursor(query: string): Cursor {
  const tokens = tokensOf(query);
  let at = 0;
  let depth = 0;
  const token = (): Token => tokens[at]!;
  const is = (text: string): boolean => token().text === text && (token().type === 'sign' || token().type === 'word');

  function unexpected(expected?: string): never {
    throw parseError(token(), `syntax error: unexpected ${tokenName(token())}${expected === undefined ? '' : `, expecting ${expected}`}`);
  }

  function next(): Token {
    const current = token();
    at = Math.min(at + 1, tokens.length - 1);
    return current;
  }

  return {
    get token() {
      return token();
    },
    peek: (distance) => tokens[Math.min(at + distance, tokens.length - 1)]!,
    next,
    is,
    take(text) {
      const found = is(text);
      if (found) {
        next();
      }
      return found;
    },
    expect(text) {
      if (!is(text)) {
        unexpected(text);
      }
      next();
    },
    unexpected,
    nested(parse) {
      if (depth >= deepest) {
        throw parseError(token(), `nested more than ${deepest} levels deep`);
      }
      depth++;
      try {
        return parse();
      } finally {
        depth--;
      }
    },
  };
}
