import { analyze, isIdle, type Token } from './analyze.ts';
import type { Vocabulary } from './corrections.ts';
import { stem } from './stem.ts';
import { otherWords } from './synonyms.ts';

/** Wording of a concept: consecutive terms. */
export interface Variant {
  readonly terms: readonly string[];
  /** Weight; 1 for the typed wording. */
  readonly weight: number;
}

/** One thing that was asked for. */
export interface Concept {
  readonly variants: readonly Variant[];
  /** Chunks that have any of it, at most. */
  readonly chunks: number;
  /** Discriminating power. */
  readonly idf: number;
  /** Position among the words of the question. */
  readonly at: number;
}

export interface Question {
  readonly concepts: readonly Concept[];
  /** Phrases that a result must contain, word by word. */
  readonly phrases: readonly (readonly string[])[];
  readonly path: string | undefined;
  readonly tags: readonly string[];
  /** Weight of the words that no document has: what was asked may not be there at all. */
  readonly unknown: number;
}

const maxConcepts = 24;
/**
 * Words beside a "phrase" up to which it is a demand; in a longer text the quotes are those of a
 * message that was pasted.
 */
const mostBesidePhrase = 3;
const otherWeight = 0.5;
/**
 * Exponent that limits the weight of very rare words over rare ones: they may be typos, or chance.
 */
const rarity = 0.75;
const joinedWeight = 0.9;
/** Matches a word that a document about it would have; numbers and names of hosts are in none. */
const isWord = /^[a-z]{3,}$/;

/** Reads what somebody typed: words, "phrases", path:folder, tag:name. */
export function questionOf(text: string, vocabulary: Vocabulary): Question {
  const docs = vocabulary.documents;
  const { rest, phrases, path, tags } = fieldsOf(text);
  const { tokens, wholes } = analyze([rest, ...phrases].join(' '));
  const terms = tokens.map(({ term }) => term);
  const meant = terms.some((term) => !isIdle(term));
  const concepts: Concept[] = [];
  const raw = (token: Token): string =>
    [rest, ...phrases].join(' ').slice(token.start, token.end).toLowerCase();
  const weightOf = (found: number): number =>
    Math.max(Math.log(1 + (docs - found + 0.5) / (found + 0.5)), 0.05) ** rarity;
  const add = (variants: readonly Variant[], at: number): boolean => {
    const known = variants
      .map((variant) => ({ variant, ...rarest(variant, vocabulary) }))
      .filter(({ docs: found }) => found > 0);
    if (known.length > 0 && concepts.length < maxConcepts) {
      // As rare as the typed word, if that is known; else as the most common of its variants.
      const typed = known.filter(({ variant }) => variant.weight === 1);
      const frequency = Math.max(
        ...(typed.length > 0 ? typed : known).map(({ docs: found }) => found),
      );
      concepts.push({
        variants: known.map(({ variant }) => variant),
        chunks: known.reduce((sum, { chunks }) => sum + chunks, 0),
        idf: weightOf(frequency),
        at,
      });
    }
    return known.length > 0;
  };
  const used = new Set<string>();
  let unknown = 0;
  terms.forEach((term, at) => {
    if ((meant && isIdle(term)) || used.has(term)) {
      return;
    }
    used.add(term);
    const own: Variant = { terms: [term], weight: 1 };
    const others = otherWords(terms, at).flatMap(({ phrases: said }) =>
      said.map((phrase) => ({ terms: phrase, weight: otherWeight })),
    );
    const joined = at + 1 < tokens.length ? joinedOf(raw(tokens[at]!), raw(tokens[at + 1]!)) : [];
    const word = raw(tokens[at]!);
    const variants = [
      own,
      ...(word === term ? [] : [{ terms: [word], weight: joinedWeight }]),
      ...joined,
      ...others,
    ];
    const isKnown = add(
      vocabulary.frequency(term).docs > 0
        ? variants
        : [...variants, ...meantBy(term, word, vocabulary)],
      at,
    );
    unknown += isKnown || !isWord.test(word) ? 0 : weightOf(0);
  });
  wholes
    .filter((whole) => !used.has(whole))
    .forEach((whole) => add([{ terms: [whole], weight: 1 }], -1));
  return {
    concepts,
    phrases: phrases
      .map((phrase) => analyze(phrase).tokens.map(({ term }) => term))
      .filter(({ length }) => length > 0),
    path,
    tags,
    unknown,
  };
}

/** Returns two words that may be written as one: file system, time out. */
const joinedOf = (first: string, second: string): Variant[] =>
  [...new Set([first + second, stem(first + second)])].map((term) => ({
    terms: [term],
    weight: joinedWeight,
  }));

/** Returns variants for a word that no document contains. */
function meantBy(term: string, word: string, vocabulary: Vocabulary): Variant[] {
  const parts = vocabulary.parts(term) ?? vocabulary.parts(word);
  const split = parts ? [{ terms: parts.map(stem), weight: joinedWeight }] : [];
  return [
    ...split,
    ...vocabulary.corrections(term).map(({ term: known, weight }) => ({ terms: [known], weight })),
  ];
}

function rarest(
  { terms }: Variant,
  vocabulary: Vocabulary,
): { readonly docs: number; readonly chunks: number } {
  return terms
    .map((term) => vocabulary.frequency(term))
    .reduce((least, one) => (one.docs < least.docs ? one : least));
}

function fieldsOf(text: string): {
  readonly rest: string;
  readonly phrases: readonly string[];
  readonly path: string | undefined;
  readonly tags: readonly string[];
} {
  const phrases: string[] = [];
  const tags: string[] = [];
  let path: string | undefined;
  const rest = text
    .replace(/"([^"]{1,400})"/g, (_, phrase: string) => (phrases.push(phrase), ' '))
    .replace(/(?<=^|\s)(path|tag):(\S+)/g, (_, field: string, value: string) => {
      if (field === 'path') {
        path = value.replace(/\/+$/, '');
      } else {
        tags.push(value);
      }
      return ' ';
    });
  const isMessage = phrases.length > 0 && rest.trim().split(/\s+/).length > mostBesidePhrase;
  return isMessage ? fieldsOf(text.replaceAll('"', ' ')) : { rest, phrases, path, tags };
}
