import { analyze } from './analyze.ts';
import type { Question } from './question.ts';

/** Part of a text, with the ranges that match the question. */
export interface Highlight {
  readonly text: string;
  /** Ranges, from and to, in UTF-16 units of `text`. */
  readonly marks: readonly (readonly [number, number])[];
}

const width = 280;
const maxMarks = 24;

/** Returns the part of a text that best matches the question. */
export function highlightOf(text: string, { concepts }: Question): Highlight {
  const worth = new Map(
    concepts.flatMap(({ variants, idf }) =>
      variants.flatMap(({ terms, weight }) => terms.map((term) => [term, idf * weight] as const)),
    ),
  );
  const hits = analyze(text).tokens.filter(({ term }) => worth.has(term));
  let [best, from] = [-1, 0];
  for (const [index, { start }] of hits.entries()) {
    const seen = new Set<string>();
    let sum = 0;
    for (let at = index; at < hits.length && hits[at]!.end - start <= width - 40; at++) {
      sum += worth.get(hits[at]!.term)! * (seen.has(hits[at]!.term) ? 0.1 : 1);
      seen.add(hits[at]!.term);
    }
    if (sum > best) {
      [best, from] = [sum, start];
    }
  }
  const start = wordStart(text, Math.max(0, from - 40));
  const end = wordEnd(text, Math.min(text.length, start + width));
  const marks = hits
    .filter((hit) => hit.start >= start && hit.end <= end)
    .slice(0, maxMarks)
    .map((hit) => [hit.start - start, hit.end - start] as const);
  return { text: text.slice(start, end), marks };
}

const wordStart = (text: string, at: number): number =>
  at === 0 ? 0 : at + (/^\S{0,30}\s+/.exec(text.slice(at, at + 60))?.[0].length ?? 0);

function wordEnd(text: string, at: number): number {
  const end =
    at >= text.length ? at : at - (/\s\S{0,30}$/.exec(text.slice(at - 40, at))?.[0].length ?? 0);
  // Not within a character of two units.
  return /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end;
}
