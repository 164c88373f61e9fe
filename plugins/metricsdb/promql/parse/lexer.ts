import { quotedCharacter } from './go-text.ts';
import { scanNumber, scanString } from './lex-literals.ts';
import {
  aggregators,
  keywords,
  preprocessors,
  type Token,
  type TokenKind,
  wordOperators,
} from './token.ts';

/** Context that determines the meaning of the next character. */
interface Surroundings {
  parens: number;
  braces: boolean;
  brackets: boolean;
  /** Just behind a `[`, where only a duration can follow. */
  fresh: boolean;
  colon: boolean;
}

/** Returns a function that returns the next token; `broken` and `end` are the last. */
export function lexer(input: string): () => Token {
  const around: Surroundings = {
    parens: 0,
    braces: false,
    brackets: false,
    fresh: false,
    colon: false,
  };
  let position = 0;

  return function next(): Token {
    position = skipBlanks(input, position);
    const token = around.braces
      ? inBraces(input, position, around)
      : around.brackets && around.fresh
        ? behindBracket(input, position, around)
        : outside(input, position, around);
    position = token.end;
    return token;
  };
}

/** Blanks and comments. A comment ends where its line ends. */
function skipBlanks(input: string, from: number): number {
  let at = from;
  for (;;) {
    const character = input[at];
    if (character === ' ' || character === '\t' || character === '\n' || character === '\r') {
      at++;
    } else if (character === '#') {
      while (at < input.length && input[at] !== '\n' && input[at] !== '\r') {
        at++;
      }
    } else {
      return at;
    }
  }
}

const token = (
  kind: TokenKind,
  input: string,
  start: number,
  end: number,
  word = input.slice(start, end),
): Token => ({
  kind,
  text: input.slice(start, end),
  word,
  start,
  end,
});

const broken = (reason: string, start: number): Token => ({
  kind: 'broken',
  text: reason,
  word: reason,
  start,
  end: start,
});

const characterAt = (input: string, at: number): string =>
  at < input.length ? String.fromCodePoint(input.codePointAt(at)!) : '';

const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9';
const isLetter = (character: string | undefined): boolean =>
  character !== undefined &&
  ((character >= 'a' && character <= 'z') ||
    (character >= 'A' && character <= 'Z') ||
    character === '_');

function wordEnd(input: string, from: number, alsoColons: boolean): number {
  let at = from;
  while (
    at < input.length &&
    (isLetter(input[at]) || isDigit(input[at]) || (alsoColons && input[at] === ':'))
  ) {
    at++;
  }
  return at;
}

const operators = ['</', '>/', '==', '!=', '<=', '>=', '<', '>', '+', '-', '*', '/', '%', '^', '@'];

function outside(input: string, at: number, around: Surroundings): Token {
  const character = characterAt(input, at);
  if (character === '') {
    return around.parens !== 0
      ? broken('unclosed left parenthesis', at)
      : around.brackets
        ? broken('unclosed left bracket', at)
        : token('end', input, at, at);
  }
  if (isDigit(character) || (character === '.' && isDigit(input[at + 1]))) {
    return numberOrDuration(input, at);
  }
  if (character === '"' || character === "'" || character === '`') {
    return string(input, at);
  }
  if (isLetter(character) || character === ':') {
    return around.brackets ? wordInBrackets(input, at, around) : word(input, at);
  }
  if (character === '=' && input[at + 1] === '~') {
    return broken(`unexpected character after '=': '~'`, at);
  }
  if (character === '!' && input[at + 1] !== '=') {
    return broken(
      `unexpected character after '!': ${quotedCharacter(characterAt(input, at + 1))}`,
      at,
    );
  }
  const operator = operators.find((candidate) => input.startsWith(candidate, at));
  if (operator !== undefined) {
    return token('operator', input, at, at + operator.length);
  }
  return mark(input, at, character, around);
}

function mark(input: string, at: number, character: string, around: Surroundings): Token {
  switch (character) {
    case ',':
    case '=':
      break;
    case '(':
      around.parens++;
      break;
    case ')':
      if (--around.parens < 0) {
        return broken(`unexpected right parenthesis ')'`, at + 1);
      }
      break;
    case '{':
      around.braces = true;
      break;
    case '[':
      if (around.brackets) {
        return broken(`unexpected left bracket '['`, at);
      }
      around.brackets = around.fresh = true;
      around.colon = false;
      break;
    case ']':
      if (!around.brackets) {
        return broken(`unexpected right bracket ']'`, at);
      }
      around.brackets = false;
      break;
    default:
      return broken(`unexpected character: ${quotedCharacter(character)}`, at);
  }
  return token('mark', input, at, at + 1);
}

/** The first token of a range or subquery. */
function behindBracket(input: string, at: number, around: Surroundings): Token {
  const character = characterAt(input, at);
  if (character === '') {
    return broken('unexpected end of input in duration expression', at);
  }
  if (character === ':') {
    return broken('unexpected colon before duration in duration expression', at + 1);
  }
  if (isDigit(character) || (character === '.' && isDigit(input[at + 1]))) {
    around.fresh = false;
    return numberOrDuration(input, at);
  }
  if (character === ')' || character === '(' || character === ']' || character === ',') {
    around.fresh = character !== ']';
    return mark(input, at, character, around);
  }
  if ('+-*/%^'.includes(character)) {
    return token('operator', input, at, at + 1);
  }
  return (
    durationWord(input, at) ??
    broken(`unexpected character in duration expression: ${quotedCharacter(character)}`, at)
  );
}

function wordInBrackets(input: string, at: number, around: Surroundings): Token {
  const character = characterAt(input, at);
  if (character === ':') {
    if (around.colon) {
      return broken(`unexpected colon ':'`, at);
    }
    around.colon = true;
    return token('mark', input, at, at + 1);
  }
  return (
    durationWord(input, at) ??
    broken(`unexpected character: ${quotedCharacter(character)}, expected ':'`, at)
  );
}

function durationWord(input: string, at: number): Token | undefined {
  const end = wordEnd(input, at, false);
  const lower = input.slice(at, end).toLowerCase();
  return ['step', 'range', 'max_of', 'min_of'].includes(lower)
    ? token('preprocessor', input, at, end, lower)
    : undefined;
}

function word(input: string, at: number): Token {
  const end = wordEnd(input, at, true);
  const lower = input.slice(at, end).toLowerCase();
  if (lower === 'inf' || lower === 'nan') {
    return token('number', input, at, end);
  }
  // As names of metrics they are older than as keywords.
  if (lower.startsWith('fill') && keywords.has(lower) && input[skipBlanks(input, end)] !== '(') {
    return token('identifier', input, at, end);
  }
  const kind = aggregators.has(lower)
    ? 'aggregator'
    : wordOperators.has(lower)
      ? 'operator'
      : keywords.has(lower)
        ? 'keyword'
        : preprocessors.has(lower)
          ? 'preprocessor'
          : undefined;
  return kind === undefined
    ? token(input.slice(at, end).includes(':') ? 'metric' : 'identifier', input, at, end)
    : token(kind, input, at, end, lower);
}

function inBraces(input: string, at: number, around: Surroundings): Token {
  const character = characterAt(input, at);
  if (character === '') {
    return broken('unexpected end of input inside braces', at);
  }
  if (isLetter(character)) {
    return token('identifier', input, at, wordEnd(input, at, false));
  }
  if (character === '"' || character === "'" || character === '`') {
    return string(input, at);
  }
  switch (character) {
    case ',':
      return token('mark', input, at, at + 1);
    case '=':
      return input[at + 1] === '~'
        ? token('operator', input, at, at + 2)
        : token('mark', input, at, at + 1);
    case '!':
      return input[at + 1] === '~' || input[at + 1] === '='
        ? token('operator', input, at, at + 2)
        : broken(
            `unexpected character after '!' inside braces: ${quotedCharacter(characterAt(input, at + 1))}`,
            at,
          );
    case '{':
      return broken(`unexpected left brace '{'`, at);
    case '}':
      around.braces = false;
      return token('mark', input, at, at + 1);
    default:
      return broken(`unexpected character inside braces: ${quotedCharacter(character)}`, at);
  }
}

function string(input: string, at: number): Token {
  const found = scanString(input, at);
  return typeof found === 'string' ? broken(found, at) : token('string', input, at, found);
}

function numberOrDuration(input: string, at: number): Token {
  const found = scanNumber(input, at);
  return 'reason' in found ? broken(found.reason, at) : token(found.kind, input, at, found.end);
}
