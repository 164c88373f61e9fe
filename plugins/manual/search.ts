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

function excerptOf(text: string, lower: string, words: readonly string[]): string {
  const at = Math.max(
    0,
    Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0)),
  );
  const from = Number.isFinite(at) ? Math.max(0, at - around) : 0;
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + 2 * around).trim()}${text.length > from + 2 * around ? ' …' : ''}`;
}
