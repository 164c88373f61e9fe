import { stem } from './stem.ts';

/** Grows when a text would be parted or analyzed otherwise: an index of another number is made anew beside the one that serves. */
export const analysisNumber = 1;

/** A word of a text as the index knows it, and where it stands. */
export interface Token {
  /** Its stem, in small letters without accents. */
  readonly term: string;
  readonly start: number;
  readonly end: number;
}

export interface Analysis {
  /** In the order of the text: an identifier is the words it is made of. */
  readonly tokens: readonly Token[];
  /** Identifiers as one word each: `oomkilled` of OOMKilled, `nodecpuusage` of node_cpu_usage. */
  readonly wholes: readonly string[];
}

/** What belongs together without a space: words, identifiers, addresses, paths of files. */
const compound = /[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}_'’]|[.\-:@/\\](?=[\p{L}\p{N}]))*/gu;
/** The words in it: of small letters, of large ones, of digits; `OOMKilled` is two. */
const piece = /\p{Lu}{2,}(?![\p{Ll}])|\p{Lu}?[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|\p{Lu}+|\p{N}+/gu;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const longest = 64;

export function analyze(text: string): Analysis {
  const tokens: Token[] = [];
  const wholes: string[] = [];
  for (const { 0: found, index } of text.matchAll(compound)) {
    const before = tokens.length;
    if (plainWord.test(found)) {
      add(tokens, found.toLowerCase(), index, index + found.length);
      continue;
    }
    for (const part of found.matchAll(piece)) {
      const start = index + part.index;
      const word = /^['’]?s$/.test(part[0]) && "'’".includes(text[start - 1] ?? ' ') ? '' : part[0];
      addWord(tokens, word, start);
    }
    if (tokens.length - before > 1) {
      const whole = folded(found).replace(/[^\p{L}\p{N}]/gu, '');
      if (whole.length <= longest) {
        wholes.push(whole);
      }
    }
  }
  return { tokens, wholes };
}

const plainWord = /^(?:[a-z]+|[A-Z][a-z]+)$/;

function addWord(tokens: Token[], word: string, start: number): void {
  if (ideographs.test(word)) {
    const signs = Array.from(word);
    // Without spaces between words, two signs after each other are the best word there is.
    signs.slice(0, Math.max(1, signs.length - 1)).forEach((sign, at) => add(tokens, sign + (signs[at + 1] ?? ''), start + at, start + at + 2));
    return;
  }
  add(tokens, folded(word), start, start + word.length);
}

function add(tokens: Token[], word: string, start: number, end: number): void {
  if (word !== '' && word.length <= longest) {
    tokens.push({ term: stem(word), start, end });
  }
}

const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Words that say how something is asked, not what; they count in phrases only. */
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
