import { scan } from './analyze.ts';
import type { Concept, Question } from './question.ts';

/** Chunk that may be an answer, with its document's metadata. */
export interface Candidate {
  readonly chunk: number;
  readonly doc: number;
  readonly path: string;
  readonly title: string;
  readonly tags: string;
  readonly version: number;
  readonly ordinal: number;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
  /** Share of the question that its document is about, from 0 to 1; 1 where no word was asked for. */
  readonly fit: number;
}

/** Terms of one field with their positions. */
interface Field {
  readonly terms: ReadonlyMap<string, readonly number[]>;
  readonly length: number;
}

interface Fields {
  readonly title: Field;
  readonly place: Field;
  readonly heading: Field;
  readonly body: Field;
  readonly whole: Field;
  /** Words that any document contains: most words of a question are in none. */
  readonly any: ReadonlySet<string>;
}

const weights = { title: 3.5, place: 3, heading: 1.8, body: 1, whole: 0.8 } as const;
const names = Object.keys(weights) as (keyof typeof weights)[];
const saturation = 2;
/** Typical length of a chunk in words; longer ones say slightly less with the same word. */
const usualLength = 110;
const lengthShare = 0.1;
/** Weight of a document's beginning, which states its subject. */
const beginning = 1.6;
/** Share of the whole document in the score; the rest is that of the one chunk. */
const ofDocument = 0.65;
/** Share that further chunks of a document add to its best one. */
const further = 0.2;
const ofNearness = 0.2;
/** A document is about a word from this part of its full weight on. */
const aboutShare = 0.7;

/** Reads texts for the words of one question, and keeps nothing else of them. */
class Reading {
  readonly #wanted: ReadonlySet<string>;
  readonly #whole = new Map<string, number[]>();

  constructor(concepts: readonly Concept[]) {
    this.#wanted = new Set(
      concepts.flatMap(({ variants }) => variants.flatMap(({ terms }) => terms)),
    );
  }

  fields({ title, path, tags, heading, text }: Candidate): Fields {
    this.#whole.clear();
    const parts = {
      title: this.#field(title),
      place: this.#field(
        `${path.replace(/\.\w+$/, '')} ${(JSON.parse(tags) as string[]).join(' ')}`,
      ),
      heading: this.#field(heading.startsWith(title) ? heading.slice(title.length) : heading),
      body: this.#field(text),
      whole: { terms: new Map(this.#whole), length: 0 },
    };
    return { ...parts, any: new Set(names.flatMap((name) => [...parts[name].terms.keys()])) };
  }

  #field(text: string): Field {
    const terms = new Map<string, number[]>();
    let length = 0;
    const keep = (into: Map<string, number[]>, term: string, at: number): void => {
      if (this.#wanted.has(term)) {
        const known = into.get(term);
        if (known) {
          known.push(at);
        } else {
          into.set(term, [at]);
        }
      }
    };
    scan(
      text,
      (term) => keep(terms, term, length++),
      (whole) => keep(this.#whole, whole, 0),
    );
    return { terms, length };
  }
}

/**
 * Orders candidates by all chunks of a document together, then by the chunk itself: the best chunk
 * of each document, then further ones.
 */
export function ordered(
  candidates: readonly Candidate[],
  { concepts, unknown }: Question,
): readonly Ranked[] {
  const reading = new Reading(concepts);
  const whole = concepts.reduce((sum, { idf }) => sum + idf, 0);
  const docs = new Map<
    number,
    {
      readonly best: number[];
      readonly chunks: { readonly candidate: Candidate; readonly score: number }[];
    }
  >();
  for (const candidate of candidates) {
    const fields = reading.fields(candidate);
    const parts = concepts.map(
      (concept) =>
        concept.idf * saturated(concept, fields) * (candidate.ordinal === 0 ? beginning : 1),
    );
    const score = combined(parts, concepts, whole) * (1 + nearness(concepts, fields));
    const doc = docs.get(candidate.doc) ?? { best: concepts.map(() => 0), chunks: [] };
    docs.set(candidate.doc, doc);
    parts.forEach((part, index) => {
      const best = doc.best[index]!;
      doc.best[index] = Math.max(best, part) + further * Math.min(best, part);
    });
    doc.chunks.push({ candidate, score });
  }
  const firsts: Ranked[] = [];
  const others: Ranked[] = [];
  for (const { best, chunks } of docs.values()) {
    const together = combined(best, concepts, whole);
    const fit = fitOf(best, concepts, whole + unknown);
    chunks.sort((a, b) => b.score - a.score || a.candidate.ordinal - b.candidate.ordinal);
    chunks.forEach(({ candidate, score }, index) => {
      const final = ofDocument * together + (1 - ofDocument) * score;
      (index === 0 ? firsts : others).push({
        candidate,
        fit,
        score: relevance(index === 0 ? final : score * (1 - ofDocument), whole),
      });
    });
  }
  const byScore = (a: Ranked, b: Ranked): number =>
    b.score - a.score || a.candidate.chunk - b.candidate.chunk;
  return [...firsts.sort(byScore), ...others.sort(byScore)];
}

/**
 * Returns the score of a sum of word weights, from 0 to 1: a half means as much as one plain match
 * of every word of the question.
 */
const relevance = (sum: number, whole: number): number => (whole <= 0 ? 0 : sum / (sum + whole));

/** Combines scores: a result counts more, the more of the question it covers. */
function combined(parts: readonly number[], concepts: readonly Concept[], whole: number): number {
  const sum = parts.reduce((total, part) => total + part, 0);
  const covered = concepts.reduce(
    (total, { idf }, index) => total + (parts[index]! > 0 ? idf : 0),
    0,
  );
  return whole === 0 ? 0 : sum * (0.35 + 0.65 * (covered / whole));
}

/** Returns how much of a question a document is about; words that no document has count as missing. */
function fitOf(parts: readonly number[], concepts: readonly Concept[], asked: number): number {
  const about = concepts.reduce(
    (sum, { idf }, index) => sum + Math.min(idf, parts[index]! / aboutShare),
    0,
  );
  return asked <= 0 ? 1 : about / asked;
}

/** Returns how far a concept is present, from 0 to 1: the first occurrence counts most. */
function saturated({ variants }: Concept, fields: Fields): number {
  let best = 0;
  for (const { terms, weight } of variants) {
    if (!fields.any.has(terms[0]!)) {
      continue;
    }
    let amount = 0;
    for (const name of names) {
      const field = fields[name];
      const count = occurrences(terms, field);
      if (count > 0) {
        const tf =
          name === 'body'
            ? count / (1 - lengthShare + lengthShare * (field.length / usualLength))
            : Math.min(count, 2);
        amount += weights[name] * tf;
      }
    }
    best = Math.max(best, (weight * amount) / (saturation + amount));
  }
  return best;
}

function occurrences(terms: readonly string[], { terms: known }: Field): number {
  const starts = known.get(terms[0]!) ?? [];
  return terms.length === 1
    ? starts.length
    : starts.filter((start) =>
        terms.every((term, index) => known.get(term)?.includes(start + index)),
      ).length;
}

/** Returns a bonus for words that were typed side by side and are close to each other. */
function nearness(concepts: readonly Concept[], fields: Fields): number {
  let near = 0;
  for (let index = 1; index < concepts.length; index++) {
    const [first, second] = [concepts[index - 1]!, concepts[index]!];
    if (second.at - first.at > 2 || second.at < 0 || first.at < 0) {
      continue;
    }
    const isNear = [fields.title, fields.heading, fields.body].some((field) => {
      const [a, b] = [first, second].map(({ variants }) =>
        variants.flatMap(({ terms }) =>
          terms.length === 1 ? (field.terms.get(terms[0]!) ?? []) : [],
        ),
      );
      return a!.some((at) => b!.some((other) => Math.abs(other - at) <= 3));
    });
    near += isNear ? 1 : 0;
  }
  return concepts.length < 2 ? 0 : (ofNearness * near) / (concepts.length - 1);
}
