import { lexer } from './lexer.ts';
import { parseError } from './position.ts';
import { describe, type Token } from './token.ts';

export interface Stream {
  readonly query: string;
  /** The token that comes next. */
  peek(): Token;
  /** End of the last closing bracket or number that was consumed. */
  readonly lastClosing: number;
  take(): Token;
  /** Takes a mark, operator or keyword if it is the one asked for. */
  takeIf(word: string): boolean;
  is(word: string): boolean;
  fail(position: number, reason: string): never;
  /** Complains about the next token. */
  unexpected(context?: string, expected?: string): never;
  /** Runs one level deeper; a query that nests too deeply ends here instead of on the stack. */
  nested<T>(work: () => T): T;
}

export const deepestNesting = 500;

export function stream(query: string): Stream {
  const next = lexer(query);
  let peeked = next();
  let lastClosing = 0;
  let depth = 0;

  const self: Stream = {
    query,
    peek() {
      if (peeked.kind === 'broken') {
        throw parseError(query, peeked.start, peeked.text);
      }
      return peeked;
    },
    get lastClosing() {
      return lastClosing;
    },
    take() {
      const token = self.peek();
      if (
        token.kind === 'number' ||
        token.kind === 'duration' ||
        (token.kind === 'mark' && ')]}'.includes(token.text))
      ) {
        lastClosing = token.end;
      }
      peeked = token.kind === 'end' ? token : next();
      return token;
    },
    takeIf(word) {
      const found = self.is(word);
      if (found) {
        self.take();
      }
      return found;
    },
    is(word) {
      const token = self.peek();
      return (
        token.word === word &&
        token.kind !== 'identifier' &&
        token.kind !== 'string' &&
        token.kind !== 'number'
      );
    },
    fail(position, reason) {
      throw parseError(query, position, reason);
    },
    unexpected(context, expected) {
      const token = self.peek();
      throw parseError(
        query,
        token.start,
        `unexpected ${describe(token)}${context === undefined ? '' : ` in ${context}`}${expected === undefined ? '' : `, expected ${expected}`}`,
      );
    },
    nested(work) {
      if (++depth > deepestNesting) {
        throw parseError(
          query,
          peeked.start,
          `expression is nested more than ${deepestNesting} levels deep`,
        );
      }
      const result = work();
      depth--;
      return result;
    },
  };
  return self;
}
