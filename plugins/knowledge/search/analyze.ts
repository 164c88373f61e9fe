import { stem } from './stem.ts';

/**
 * Version of the analysis; raise it when a text would be split, analyzed or counted differently: an
 * older index is then rebuilt next to the one in use.
 */
export const analysisNumber = 2;

/** Word of a text as in the index, with its position. */
export interface Token {
  /** Stem in lower case without accents. */
  readonly term: string;
  readonly start: number;
  readonly end: number;
}

export interface Analysis {
  /** Tokens in the order of the text: an identifier is split into its words. */
  readonly tokens: readonly Token[];
  /** Identifiers as one word each: `oomkilled` of OOMKilled, `nodecpuusage` of node_cpu_usage. */
  readonly wholes: readonly string[];
}

/** Matches what belongs together without a space: words, identifiers, addresses, file paths. */
const compound = /[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}_'’]|[.\-:@/\\](?=[\p{L}\p{N}]))*/gu;
/** The words in it: of small letters, of large ones, of digits; `OOMKilled` is two. */
const piece = /\p{Lu}{2,}(?![\p{Ll}])|\p{Lu}?[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|\p{Lu}+|\p{N}+/gu;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const longest = 64;

export function analyze(text: string): Analysis {
  const tokens: Token[] = [];
  const wholes: string[] = [];
  scan(
    text,
    (term, start, end) => tokens.push({ term, start, end }),
    (whole) => wholes.push(whole),
  );
  return { tokens, wholes };
}

type TakeToken = (term: string, start: number, end: number) => void;

/** Scans the same, word by word, for callers that keep few of them. */
export function scan(text: string, take: TakeToken, takeWhole: (whole: string) => void): void {
  compound.lastIndex = 0;
  for (let match = compound.exec(text); match !== null; match = compound.exec(text)) {
    const [found] = match;
    if (plainWord.test(found)) {
      takeWord(take, found.toLowerCase(), match.index, match.index + found.length);
      continue;
    }
    let parts = 0;
    for (const part of found.matchAll(piece)) {
      const start = match.index + part.index;
      const isEnding = /^['’]?s$/.test(part[0]) && "'’".includes(text[start - 1] ?? ' ');
      parts += isEnding ? 0 : takePiece(take, part[0], start);
    }
    if (parts > 1) {
      const whole = folded(found).replace(/[^\p{L}\p{N}]/gu, '');
      if (whole.length <= longest) {
        takeWhole(whole);
      }
    }
  }
}

const plainWord = /^(?:[a-z]+|[A-Z][a-z]+)$/;

/** Takes the words of a piece and returns their number. */
function takePiece(take: TakeToken, word: string, start: number): number {
  if (ideographs.test(word)) {
    const signs = Array.from(word);
    // Without spaces between words, two signs after each other are the best word there is.
    const pairs = signs.slice(0, Math.max(1, signs.length - 1));
    pairs.forEach((sign, at) =>
      takeWord(take, sign + (signs[at + 1] ?? ''), start + at, start + at + 2),
    );
    return pairs.length;
  }
  takeWord(take, folded(word), start, start + word.length);
  return 1;
}

function takeWord(take: TakeToken, word: string, start: number, end: number): void {
  if (word !== '' && word.length <= longest) {
    take(stem(word), start, end);
  }
}

const folded = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Words about how something is asked, not what; they count in phrases only. */
const idle: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be been being but by can cannot could did do does doing done for from get gets getting got had has have having he her his how i if in into is it its just ' +
    'me my of off on or our out over she should so some than that the their them then there these they this those to too up us was we were what when where which while who whom why will ' +
    'with would you your about after again all also am because before between both each few here more most no nor not now only other own same such until very ' +
    's t don didn doesn isn won cant dont doesnt didnt isnt wont wasnt couldnt im ive gonna wtf halp pls plz ok hey hi thanks tell show please help need want find look looking see way thing things something anything happen happens happening keep keeps still suddenly'
  )
    .split(' ')
    .map(stem),
);

export const isIdle = (term: string): boolean => idle.has(term);
