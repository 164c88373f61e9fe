import { type Token, tokens } from '../engine/sql-text.ts';

/** One word of a statement as it is written there, and what stands for it in Postgres. */
export interface Word extends Token {
  readonly source: string;
  /** Text before it, of which a gap is kept as one space. */
  readonly gap: string;
  /** Depth of the parentheses around it; a parenthesis itself is outside. */
  readonly depth: number;
  text: string;
  out: string;
}

const operators = /^(?:->>|->|\|\||<=|>=|<>|!=|==|<<|>>)/;

/** Splits a statement; operators of several characters are one word. */
export function wordsIn(sql: string): Word[] {
  const found: Word[] = [];
  let depth = 0;
  let end = 0;
  for (const token of tokens(sql)) {
    if (token.start < end) {
      continue;
    }
    const operator = token.kind === 'other' && operators.exec(sql.slice(token.start))?.[0];
    const stop = operator ? token.start + operator.length : token.end;
    const source = sql.slice(token.start, stop);
    const isClosing = token.kind === 'other' && source === ')';
    depth -= isClosing ? 1 : 0;
    found.push({
      kind: token.kind,
      text: operator || token.text,
      start: token.start,
      end: stop,
      source,
      gap: token.start > end && found.length > 0 ? ' ' : '',
      depth,
      out: source,
    });
    depth += token.kind === 'other' && source === '(' ? 1 : 0;
    end = stop;
  }
  return found;
}

export const written = (words: readonly Word[]): string =>
  words
    .map(({ gap, out }) => gap + out)
    .join('')
    .trim();

/** Returns whether a word is the bare keyword or the sign `text`. */
export const is = (word: Word | undefined, ...texts: readonly string[]): boolean =>
  word !== undefined &&
  (word.kind === 'word' || word.kind === 'other') &&
  texts.includes(word.text);

/** Index of the first word from `from` on at `depth` that is one of `texts`; the number of words if there is none. */
export function next(
  words: readonly Word[],
  from: number,
  depth: number,
  ...texts: readonly string[]
): number {
  for (let at = from; at < words.length; at++) {
    const word = words[at]!;
    if (word.depth < depth || (word.depth === depth && is(word, ...texts))) {
      return at;
    }
  }
  return words.length;
}

/** Ranges of `words` between commas at `depth`. */
export function parts(
  words: readonly Word[],
  from: number,
  to: number,
  depth: number,
): (readonly [from: number, to: number])[] {
  const found: (readonly [number, number])[] = [];
  for (let start = from; start < to;) {
    const end = Math.min(to, next(words, start, depth, ','));
    found.push([start, end]);
    start = end + 1;
  }
  return found;
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
