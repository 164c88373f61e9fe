import type Database from 'better-sqlite3';

import { fused, type Similar } from './fusion.ts';
import type { Candidate, Ranked } from './ranking.ts';
import { packed, similarityOf } from './vectors.ts';

/**
 * Question that the base asks itself: the title of a document, or a sentence of it. The document is
 * then searched for without that text, so that only what else it says can find it.
 */
export interface Trial {
  readonly kind: 'title' | 'sentence';
  readonly question: string;
  readonly doc: number;
  /** Chunks of the document, or the one with the sentence, as they read without it. */
  readonly chunks: readonly AlteredChunk[];
}

export interface AlteredChunk {
  readonly chunk: number;
  /** Text to embed. */
  readonly text: string;
}

/** Text that a trial withholds, with the vectors of the chunks as they read without it. */
export interface Withheld {
  readonly kind: Trial['kind'];
  readonly text: string;
  readonly chunks: readonly { readonly chunk: number; readonly values: Float32Array }[];
}

/** Place of the document with each weight. */
export type TrialAnswer = readonly Placed[];

export interface Placed {
  /** Counted from 1; 0 if the document is not found. */
  readonly place: number;
  /**
   * One by the place; of a document that is not found, as much as a chance place behind those that
   * are: otherwise a model that only adds anything at all would seem to help.
   */
  readonly worth: number;
}

const maxChunks = 6;
const least = 200;

interface DocText {
  readonly doc: number;
  readonly title: string;
}

interface ChunkText {
  readonly chunk: number;
  readonly heading: string;
  readonly text: string;
}

/** Returns two trials for each of up to `limit` documents, which are always the same ones of a base. */
export function trialsIn(db: Database.Database, limit: number): readonly Trial[] {
  const docs = db
    .prepare(
      `SELECT d.id AS doc, d.title FROM docs d
       WHERE (SELECT sum(length(c.text)) FROM chunks c WHERE c.doc = d.id) >= ${least}
       ORDER BY (d.id * 2654435761) % 4294967296 LIMIT ?`,
    )
    .all(limit) as DocText[];
  const chunksOf = db.prepare(
    'SELECT id AS chunk, heading, text FROM chunks WHERE doc = ? ORDER BY ordinal LIMIT 40',
  );
  return docs.flatMap((doc) => trialsOf(doc, chunksOf.all(doc.doc) as ChunkText[]));
}

function trialsOf({ doc, title }: DocText, chunks: readonly ChunkText[]): readonly Trial[] {
  const untitled = chunks.slice(0, maxChunks).map(({ chunk, heading, text }) => ({
    chunk,
    text: `${without(heading, title)}\n${without(text, title)}`,
  }));
  const found = sentenceIn(doc, chunks);
  return [
    { kind: 'title', question: title, doc, chunks: untitled },
    ...(found === undefined
      ? []
      : [
          {
            kind: 'sentence' as const,
            question: found.sentence,
            doc,
            chunks: [
              {
                chunk: found.in.chunk,
                text: `${title}\n${found.in.heading}\n${without(found.in.text, found.sentence)}`,
              },
            ],
          },
        ]),
  ];
}

/** Returns a plain sentence of medium length that the document says only once. */
function sentenceIn(
  doc: number,
  chunks: readonly ChunkText[],
): { readonly sentence: string; readonly in: ChunkText } | undefined {
  const whole = chunks.map(({ text }) => text).join('\n');
  const all = chunks.flatMap((chunk) =>
    chunk.text
      .split(/(?<=[.!?])\s+|\n+/)
      .map((sentence) => sentence.trim())
      .filter(
        (sentence) =>
          /^[\p{L}\p{N}]/u.test(sentence) &&
          !/[|{}[\]<>$=]/.test(sentence) &&
          isMedium(sentence) &&
          whole.split(sentence).length === 2,
      )
      .map((sentence) => ({ sentence, in: chunk })),
  );
  return all[doc % Math.max(1, all.length)];
}

const isMedium = (sentence: string): boolean => {
  const words = sentence.split(/\s+/).length;
  return words >= 6 && words <= 22 && sentence.length <= 200;
};

const without = (text: string, part: string): string =>
  part === '' ? text : text.split(part).join(' ');

/** One document as it would be found without the text that a trial withholds. */
export class HeldOut {
  readonly #doc: number;
  readonly #withheld: Withheld;
  readonly #altered: ReadonlyMap<number, number>;

  constructor(doc: number, withheld: Withheld, asked: Float32Array) {
    this.#doc = doc;
    this.#withheld = withheld;
    const question = packed(asked);
    this.#altered = new Map(
      withheld.chunks.map(({ chunk, values }) => [chunk, similarityOf(packed(values), question)]),
    );
  }

  /**
   * Returns the candidates without the withheld text. Where that is a title, the others are read
   * without theirs as well: beside them the document would be last, and any change an improvement.
   */
  candidates(all: readonly Candidate[]): readonly Candidate[] {
    const { kind, text } = this.#withheld;
    return all.map((one) => {
      const isOwn = one.doc === this.#doc;
      const rest = isOwn ? without(one.text, text) : one.text;
      return kind === 'sentence'
        ? { ...one, text: rest }
        : {
            ...one,
            title: '',
            // A file is mostly named after its title.
            path: '',
            heading: without(one.heading, isOwn ? text : one.title),
            text: rest,
          };
    });
  }

  /** Returns the neighbours with the similarity that the altered chunks have. */
  similar(all: readonly Similar[], most: number): readonly Similar[] {
    return all
      .flatMap((one) => {
        const { chunk, doc } = one.candidate;
        if (doc !== this.#doc) {
          return [one];
        }
        const similarity = this.#altered.get(chunk);
        return similarity === undefined
          ? this.#withheld.kind === 'title'
            ? []
            : [one]
          : [{ ...one, similarity }];
      })
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, most);
  }

  places(
    lexical: readonly Ranked[],
    similar: readonly Similar[],
    weights: readonly number[],
    documents: number,
  ): TrialAnswer {
    return weights.map((weight) => {
      const docs = new Set(fused(lexical, similar, weight).map(({ candidate }) => candidate.doc));
      const place = [...docs].indexOf(this.#doc) + 1;
      return { place, worth: place > 0 ? 1 / place : chanceWorth(docs.size, documents) };
    });
  }
}

/** Returns the mean of one by the place over all places behind the found documents. */
function chanceWorth(found: number, documents: number): number {
  let sum = 0;
  for (let place = found + 1; place <= documents; place++) {
    sum += 1 / place;
  }
  return documents > found ? sum / (documents - found) : 0;
}
