import type { Chapter } from './chapters.ts';
import type { Section } from './rendered.ts';

export interface Read {
  readonly chapter: Chapter;
  readonly sections: readonly Section[];
}

export interface Hit {
  readonly chapter: Chapter;
  readonly section: Section;
  readonly excerpt: string;
}

const mostHits = 40;
const around = 90;

/** Sections that have every word, those with one in their title first. */
export function search(pages: readonly Read[], text: string): readonly Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  if (words.length === 0) {
    return [];
  }
  const hits = pages.flatMap(({ chapter, sections }) =>
    sections.flatMap((section) => {
      const title = `${chapter.title} ${section.title}`.toLowerCase();
      const body = section.text.toLowerCase();
      if (!words.every((word) => title.includes(word) || body.includes(word))) {
        return [];
      }
      const weight = words.filter((word) => title.includes(word)).length;
      return [{ weight, hit: { chapter, section, excerpt: excerptOf(section.text, body, words) } }];
    }),
  );
  return hits
    .sort((a, b) => b.weight - a.weight)
    .slice(0, mostHits)
    .map(({ hit }) => hit);
}

/** Words of a question that say nothing about its subject. */
const common = new Set(
  'a all an and any are as at be by can do does for from have how i in into is it its me my of on or our please should that the their there this to was we what when where which who why with svc'.split(
    ' ',
  ),
);

/**
 * Sections that answer a question in words, best first: the rarer the words that they share with it, the
 * better, twice as good in a title. A word also matches by its beginning: `connecting` and `connect`.
 */
export function answering(pages: readonly Read[], question: string): readonly Hit[] {
  const wanted = [...new Set(wordsOf(question))].filter((word) => !common.has(word)).slice(0, 20);
  const texts = pages.flatMap(({ chapter, sections }) =>
    sections.map((section) => ({
      chapter,
      section,
      title: wordsOf(`${chapter.title} ${section.title}`),
      body: new Set(wordsOf(section.text)),
    })),
  );
  const has = (words: Iterable<string>, stem: string): boolean => {
    for (const word of words) {
      if (word.startsWith(stem)) {
        return true;
      }
    }
    return false;
  };
  const stems = wanted.map((word) => word.replace(/(?<=.{4})(?:ing|ions?|ed|es|s)$/, ''));
  const found = texts.map((text) => ({
    ...text,
    shared: stems.map((stem) => (has(text.title, stem) ? 2 : has(text.body, stem) ? 1 : 0)),
  }));
  const rarity = stems.map((_, i) =>
    Math.log(1 + texts.length / (1 + found.filter(({ shared }) => shared[i]! > 0).length)),
  );
  return found
    .map(({ chapter, section, shared }) => {
      const sum = shared.reduce<number>((total, weight, i) => total + weight * rarity[i]!, 0);
      const part = shared.filter((weight) => weight > 0).length / Math.max(1, stems.length);
      return { score: sum * part, hit: { chapter, section, excerpt: '' } };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ hit }) => hit);
}

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
