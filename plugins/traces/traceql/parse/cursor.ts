import { parseError, type Token, tokenName, tokensOf } from './lexer.ts';

const deepest = 128;
const maxJoints = 2_000;

/** Position of the parser in its tokens. */
export class Cursor {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;
  #joints = 0;

  constructor(query: string) {
    this.#tokens = tokensOf(query);
  }

  get token(): Token {
    return this.#tokens[this.#at]!;
  }

  /** Returns the token `distance` ahead; the end token repeats. */
  peek(distance: number): Token {
    return this.#tokens[Math.min(this.#at + distance, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const current = this.token;
    this.#at = Math.min(this.#at + 1, this.#tokens.length - 1);
    return current;
  }

  /** Steps over what joins two expressions: a row of them is parsed one after the other, and runs one within the other. */
  joint(): void {
    if (++this.#joints > maxJoints) {
      throw parseError(this.token, `more than ${maxJoints} operators`);
    }
    this.next();
  }

  /** Returns whether the token is this sign or word. */
  is(text: string): boolean {
    const { token } = this;
    return token.text === text && (token.type === 'sign' || token.type === 'word');
  }

  /** Steps over this sign or word when it is next. */
  take(text: string): boolean {
    const found = this.is(text);
    if (found) {
      this.next();
    }
    return found;
  }

  expect(text: string): void {
    if (!this.take(text)) {
      this.unexpected(text);
    }
  }

  unexpected(expected?: string): never {
    throw parseError(
      this.token,
      `syntax error: unexpected ${tokenName(this.token)}${expected === undefined ? '' : `, expecting ${expected}`}`,
    );
  }

  /** Guards recursion: a text cannot nest deeper than the stack is. */
  nested<T>(parse: () => T): T {
    if (this.#depth >= deepest) {
      throw parseError(this.token, `nested more than ${deepest} levels deep`);
    }
    this.#depth++;
    try {
      return parse();
    } finally {
      this.#depth--;
    }
  }
}
