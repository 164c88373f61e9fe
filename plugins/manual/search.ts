import type { Chapter } from './chapters.ts';
import type { Section } from './rendered.ts';
import { otherWordsFor } from './synonyms.ts';

export interface Read {
  readonly chapter: Chapter;
  readonly sections: readonly Section[];
}

export interface Hit {
  readonly chapter: Chapter;
  readonly section: Section;
  readonly excerpt: string;
}

/** A section with its words counted. */
interface Counted extends Omit<Hit, 'excerpt'> {
  readonly title: ReadonlyMap<string, number>;
  readonly body: ReadonlyMap<string, number>;
  readonly length: number;
}

const mostHits = 40;
const around = 90;
/** Constants of BM25: how soon further occurrences stop to count, and how much length is penalized. */
const [saturation, lengthShare] = [1.2, 0.6];
/** A word in a title counts as much as this many in a text. */
const titleWeight = 5;
/** Sections that have every word as it was typed come first. */
const verbatim = 1.5;
/** Share of its score that a page keeps which few people ask for. */
const asideShare = 0.4;
/** Share of the best score below which a section only shares a word by chance. */
const leastShare = 0.2;

/** A synonym counts as this part of the word that was typed. */
const synonymShare = 0.5;
/** Up to this length, a word only matches as a whole: `ci` is no beginning of `circle`. */
const shortWord = 3;

/** Words of a question that say nothing about its subject. */
const common = new Set(
  'a all an and any are as at be by can could do does for from have how i if in into is it its me my no not of on or our please should that the their them there this thing to us was we what whats when where which who why will with without you your svc so much many more most than one two some any only just also itself own make makes making want need needs use uses used using get gets go goes going does doesnt dont cant isnt still new up out off over something someone about'.split(
    ' ',
  ),
);

/**
 * Sections that answer a question or have the words of a search, best first: the rarer the words that they share with it, and the
 * more of them, the better. A word also matches by its beginning: `connecting` and `connect`.
 */
export function search(pages: readonly Read[], text: string): readonly Hit[] {
  const typed = [...new Set(wordsOf(text))].slice(0, 20);
  const asked = typed.filter((word) => !common.has(word));
  const stems = [...new Set(asked.map(stemOf))];
  const others = stems.map((stem) =>
    asked
      .filter((word) => stemOf(word) === stem)
      .flatMap(otherWordsFor)
      .map(stemOf),
  );
  const counted = countedOf(pages);
  const mean = counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length);
  const found = counted.map((one) => {
    const own = stems.map((stem) => countOf(one, stem));
    const counts = own.map((count, at) =>
      Math.max(count, ...others[at]!.map((other) => synonymShare * countOf(one, other))),
    );
    return { one, own, counts };
  });
  const rarity = stems.map((_, at) => {
    const among = (by: 'own' | 'counts'): number =>
      found.filter((section) => section[by][at]! > 0).length;
    // As rare as the word that was typed; a word that no section has, as rare as its synonyms.
    const having = among('own') || among('counts');
    return Math.log(1 + (counted.length - having + 0.5) / (having + 0.5));
  });
  const scored = found
    .map(({ one, counts }) => {
      const norm = saturation * (1 - lengthShare + (lengthShare * one.length) / mean);
      const sum = counts.reduce(
        (total, count, at) => total + (rarity[at]! * count * (saturation + 1)) / (count + norm),
        0,
      );
      const share = counts.filter((count) => count > 0).length / Math.max(1, stems.length);
      const isVerbatim = typed.every((word) => one.body.has(word) || one.title.has(word));
      const weight = (isVerbatim ? verbatim : 1) * (one.chapter.aside ? asideShare : 1);
      return { one, score: sum * share * weight };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  const least = (scored[0]?.score ?? 0) * leastShare;
  return scored
    .filter(({ score }) => score >= least)
    .slice(0, mostHits)
    .map(({ one: { chapter, section } }) => ({
      chapter,
      section,
      excerpt: excerptOf(section.text, section.text.toLowerCase(), stems),
    }));
}

/** A section does not change while the program runs; it is counted once. */
const known = new WeakMap<Section, Counted>();

const countedOf = (pages: readonly Read[]): readonly Counted[] =>
  pages.flatMap(({ chapter, sections }) =>
    sections.map((section) => {
      const counted = known.get(section) ?? read(chapter, section);
      known.set(section, counted);
      return counted;
    }),
  );

function read(chapter: Chapter, section: Section): Counted {
  const words = wordsOf(section.text);
  const title = counts(wordsOf(`${chapter.title} ${section.title}`));
  return { chapter, section, title, body: counts(words), length: words.length };
}

const countOf = ({ title, body }: Counted, stem: string): number =>
  titleWeight * beginningWith(title, stem) + beginningWith(body, stem);

function beginningWith(words: ReadonlyMap<string, number>, stem: string): number {
  let sum = 0;
  for (const [word, count] of words) {
    sum += (stem.length > shortWord ? word.startsWith(stem) : word === stem) ? count : 0;
  }
  return sum;
}

function counts(words: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  words.forEach((word) => found.set(word, (found.get(word) ?? 0) + 1));
  return found;
}

const stemOf = (word: string): string => word.replace(/(?<=.{4})(?:ing|ions?|ed|es|s)$/, '');

const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_.]+/u)
    .map((word) => word.replaceAll(/^\.+|\.+$/g, ''))
    .filter((word) => word.length > 1);

function excerptOf(text: string, lower: string, words: readonly string[]): string {
  const at = Math.max(
    0,
    Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0)),
  );
  const from = Number.isFinite(at) ? Math.max(0, at - around) : 0;
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + 2 * around).trim()}${text.length > from + 2 * around ? ' …' : ''}`;
}
