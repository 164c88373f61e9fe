/** A piece of a name: a character, any one, any number of them, or one of a set. */
type Token = string | typeof any | typeof many | CharSet;

interface CharSet {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [string, string])[];
}

const any = Symbol('?');
const many = Symbol('*');
export const folders = Symbol('**');

/** One name of a path. */
export interface NamePattern {
  /** The name itself, where nothing in it is a wildcard. */
  readonly literal: string | undefined;
  matches(name: string): boolean;
}

/** Names of a path in order; `folders` matches any number of them. */
export type Glob = readonly (NamePattern | typeof folders)[];

const maxAlternatives = 64;

/** A pattern of absolute paths. Alternatives in braces make several. */
export function parseGlob(text: string): readonly Glob[] {
  return alternatives(text).map((one) =>
    one
      .split('/')
      .filter((name) => name !== '' && name !== '.')
      .map((name) => (name === '**' ? folders : namePattern(name))),
  );
}

/** Returns whether the pattern matches a whole path, whose names must not contain `..`. */
export function matchesPath(glob: Glob, path: string): boolean {
  const names = path.split('/').filter((name) => name !== '');
  // Which names the pattern may have consumed so far: work grows with their product, never beyond.
  let reached = new Set([0]);
  for (const piece of glob) {
    const next = new Set<number>();
    for (const at of reached) {
      if (piece === folders) {
        for (let i = at; i <= names.length; i++) {
          next.add(i);
        }
      } else if (at < names.length && piece.matches(names[at]!)) {
        next.add(at + 1);
      }
    }
    reached = next;
  }
  return reached.has(names.length);
}

function alternatives(text: string): string[] {
  let done = [''];
  for (let at = 0; at < text.length;) {
    const close = text[at] === '{' ? text.indexOf('}', at) : -1;
    const choices = close < 0 ? [text[at]!] : text.slice(at + 1, close).split(',');
    done = done
      .flatMap((start) => choices.map((choice) => start + choice))
      .slice(0, maxAlternatives);
    at = close < 0 ? at + 1 : close + 1;
  }
  return done;
}

function namePattern(name: string): NamePattern {
  const tokens = tokensOf(name);
  const literal = tokens.every((token) => typeof token === 'string') ? name : undefined;
  return {
    literal,
    matches:
      literal === undefined
        ? (other) => tokensMatch(tokens, Array.from(other))
        : (other) => other === literal,
  };
}

function tokensOf(name: string): Token[] {
  const chars = Array.from(name);
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!;
    const close = char === '[' ? chars.indexOf(']', at + 2) : -1;
    if (close > 0) {
      tokens.push(charSet(chars.slice(at + 1, close)));
      at = close;
    } else if (char === '*') {
      tokens.push(many);
    } else {
      tokens.push(char === '?' ? any : char);
    }
  }
  return tokens;
}

function charSet(chars: readonly string[]): CharSet {
  const negated = chars[0] === '!' || chars[0] === '^';
  const ranges: [string, string][] = [];
  for (let at = negated ? 1 : 0; at < chars.length; at++) {
    const isRange = chars[at + 1] === '-' && at + 2 < chars.length;
    ranges.push([chars[at]!, chars[isRange ? at + 2 : at]!]);
    at += isRange ? 2 : 0;
  }
  return { negated, ranges };
}

/**
 * Matches by backtracking to the last star only, so that the work is bounded by the product of both
 * lengths.
 */
function tokensMatch(tokens: readonly Token[], chars: readonly string[]): boolean {
  let token = 0;
  let char = 0;
  let star = -1;
  let starAt = 0;
  while (char < chars.length) {
    if (tokens[token] === many) {
      star = token++;
      starAt = char;
    } else if (token < tokens.length && tokenMatches(tokens[token]!, chars[char]!)) {
      token++;
      char++;
    } else if (star >= 0) {
      token = star + 1;
      char = ++starAt;
    } else {
      return false;
    }
  }
  return tokens.slice(token).every((left) => left === many);
}

function tokenMatches(token: Token, char: string): boolean {
  if (typeof token === 'string') {
    return token === char;
  }
  if (token === any || token === many) {
    return token === any;
  }
  return token.ranges.some(([from, to]) => char >= from && char <= to) !== token.negated;
}
