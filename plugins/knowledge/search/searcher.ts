import Database from 'better-sqlite3';
import type { ThreadService, ThreadSetup } from 'svc/thread';

import type { Audiences } from './audience.ts';
import { Vocabulary } from './corrections.ts';
import { errors } from './errors.ts';
import { type Highlight, highlightOf } from './excerpt.ts';
import { fused, type Similar } from './fusion.ts';
import { HeldOut, type Trial, type TrialAnswer, trialsIn, type Withheld } from './held-out.ts';
import { type IndexData, servingFile } from './open-index.ts';
import { type Concept, type Question, questionOf } from './question.ts';
import { type Candidate, ordered, type Ranked } from './ranking.ts';
import { VectorTable } from './vectors.ts';

export type Mode = 'hybrid' | 'lexical' | 'vector';

export interface Search {
  readonly text: string;
  readonly limit: number;
  readonly path: string | undefined;
  readonly tag: string | undefined;
  /** Audiences of the reader; undefined means all. */
  readonly audiences: Audiences;
  readonly mode: Mode;
  /** Vector of the text, if a model was available. */
  readonly vector: QuestionVector | undefined;
  /** Weight of similarity beside words in a hybrid search, as this base was measured. */
  readonly weight: number;
}

export interface QuestionVector {
  readonly model: string;
  readonly values: Float32Array;
}

export interface Found {
  readonly doc_id: number;
  readonly title: string;
  readonly path: string;
  readonly version: number;
  /** Number within the document, from 0. */
  readonly chunk: number;
  readonly heading: string;
  readonly anchor: string;
  readonly score: number;
  readonly highlights: readonly Highlight[];
}

export interface Answer {
  readonly items: readonly Found[];
  readonly mode: Mode;
  /** False if none of the first results is about enough of the question: most likely none is right. */
  readonly fits: boolean;
}

/** Chunks that one look into the full-text table may match before only its rarest words decide. */
const maxMatches = 8_000;
const candidates = 80;
const firstOfTrial = 10;
/** Number of results that are read, and the share of the question that one of them must be about. */
const firstRead = 3;
const leastFit = 0.45;

interface Filter {
  readonly sql: string;
  readonly values: readonly (string | number)[];
  /** True if it lets every document pass. */
  readonly isOpen: boolean;
}

/** Searcher of one index, as of the moment of the question; read-only. */
export class Searcher {
  readonly #db: Database.Database;
  readonly #vectors: VectorTable;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(file: string) {
    this.#db = new Database(file, { readonly: true, fileMustExist: true });
    this.#db.pragma('cache_size = -32000');
    this.#db.pragma(`mmap_size = ${256 * 1024 * 1024}`);
    this.#vectors = new VectorTable(this.#db);
  }

  search(search: Search): Answer {
    // One moment for all that is read.
    return this.#db.transaction(() => this.#answer(search))();
  }

  close(): void {
    this.#db.close();
  }

  /** Returns questions that the base itself can answer, each with what is withheld for it. */
  trials(limit: number): readonly Trial[] {
    return this.#db.transaction(() => trialsIn(this.#db, limit))();
  }

  /** Returns where the document of a trial comes with each of these weights, without what is withheld. */
  try(
    { question: text, doc }: Trial,
    withheld: Withheld,
    vector: QuestionVector,
    weights: readonly number[],
  ): TrialAnswer {
    return this.#db.transaction(() => {
      const everything = { among: undefined, ofDevices: true };
      const vocabulary = new Vocabulary(this.#db, everything);
      const question = questionOf(text, vocabulary);
      const heldOut = new HeldOut(doc, withheld, vector.values);
      const lexical = ordered(
        heldOut.candidates(this.#matches(question, openFilter)),
        question,
      ).filter(({ score }) => score > 0);
      const similar = heldOut.similar(
        this.#similar(vector, openFilter, candidates + withheld.chunks.length) ?? [],
        candidates,
      );
      return heldOut.places(lexical, similar, weights, vocabulary.documents);
    })();
  }

  /** Returns the first documents of a trial by words, without what is withheld. */
  tryFirst({ question: text, doc, kind }: Trial): readonly Found[] {
    return this.#db.transaction(() => {
      const everything = { among: undefined, ofDevices: true };
      const question = questionOf(text, new Vocabulary(this.#db, everything));
      const heldOut = new HeldOut(doc, { kind, text, chunks: [] }, new Float32Array());
      return ordered(heldOut.candidates(this.#matches(question, openFilter)), question)
        .filter(({ score }) => score > 0)
        .slice(0, firstOfTrial)
        .map(({ candidate, score }) => shown(candidate, score, question));
    })();
  }

  #answer(search: Search): Answer {
    const { text, audiences, mode, vector, weight, limit } = search;
    const question = questionOf(text, new Vocabulary(this.#db, audiences));
    const filter = filterOf(search, question);
    const near = (): readonly Similar[] | undefined =>
      vector === undefined ? undefined : this.#similar(vector, filter, candidates);
    const answer = (ranked: readonly Ranked[], used: Mode): Answer => ({
      items: ranked
        .slice(0, limit)
        .map(({ candidate, score }) => shown(candidate, score, question)),
      mode: used,
      // A similarity says nothing about what is missing.
      fits: ranked.slice(0, firstRead).some(({ fit }) => fit >= leastFit),
    });
    const alone = mode === 'vector' ? near() : undefined;
    if (alone !== undefined) {
      return answer(fused([], alone, 0), 'vector');
    }
    const lexical = ordered(this.#matches(question, filter), question);
    // Without a weight, only what no word finds is looked for by similarity.
    const similar = mode === 'hybrid' && (weight > 0 || lexical.length === 0) ? near() : undefined;
    return similar === undefined
      ? answer(lexical, 'lexical')
      : answer(fused(lexical, similar, weight), 'hybrid');
  }

  #matches(question: Question, filter: Filter): Candidate[] {
    const phrases = question.phrases.map((terms) => `"${terms.join(' ')}"`).join(' AND ');
    for (const words of expressionsOf(question.concepts)) {
      const found = this.#look(
        [phrases, words]
          .filter((part) => part !== '')
          .map((part) => `(${part})`)
          .join(' AND '),
        filter,
      );
      if (found.length > 0) {
        return found;
      }
    }
    return phrases === '' ? [] : this.#look(phrases, filter);
  }

  /** The best by the table's own measure; those that are filtered away are made up for. */
  #look(match: string, filter: Filter): Candidate[] {
    const ranked = 'words MATCH ? ORDER BY bm25(words, 5, 3, 3, 1, 3)';
    const quick = this.#prepare(`SELECT rowid FROM words WHERE ${ranked} LIMIT ${candidates}`)
      .pluck()
      .all(match) as number[];
    const kept = this.#candidates(quick, filter);
    if (kept.length === quick.length || quick.length < candidates) {
      return kept;
    }
    const thorough = `SELECT words.rowid FROM words JOIN chunks c ON c.id = words.rowid JOIN docs d ON d.id = c.doc WHERE ${filter.sql} AND ${ranked} LIMIT ${candidates}`;
    return this.#candidates(
      this.#prepare(thorough)
        .pluck()
        .all(...filter.values, match) as number[],
      filter,
    );
  }

  /** Looks among the documents that the filter lets pass, and at no other. */
  #similar(
    { model, values }: QuestionVector,
    filter: Filter,
    most: number,
  ): readonly Similar[] | undefined {
    const docs = filter.isOpen
      ? undefined
      : new Set(
          this.#prepare(`SELECT d.id FROM docs d WHERE ${filter.sql}`)
            .pluck()
            .all(...filter.values) as number[],
        );
    const near = this.#vectors.nearest(model, values, docs);
    if (near === undefined) {
      return undefined;
    }
    const found: Similar[] = [];
    for (const { chunk, similarity } of near) {
      const [candidate] = this.#candidates([chunk], filter);
      if (candidate !== undefined && found.push({ candidate, similarity }) === most) {
        break;
      }
    }
    return found;
  }

  /** Returns candidates in the given order. */
  #candidates(chunks: readonly number[], { sql, values }: Filter): Candidate[] {
    const one = this.#prepare(
      `SELECT c.id AS chunk, c.doc, c.ordinal, c.heading, c.anchor, c.text, d.path, d.title, d.tags, d.version
       FROM chunks c JOIN docs d ON d.id = c.doc WHERE c.id = ? AND ${sql}`,
    );
    return chunks.flatMap((chunk) => (one.get(chunk, ...values) as Candidate | undefined) ?? []);
  }

  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    if (this.#statements.size < 200) {
      this.#statements.set(sql, known);
    }
    return known;
  }
}

const openFilter: Filter = { sql: '1', values: [], isOpen: true };

function filterOf({ path, tag, audiences }: Search, question: Question): Filter {
  const parts: string[] = ['1'];
  const values: (string | number)[] = [];
  const add = (sql: string, ...given: readonly (string | number)[]): void => {
    parts.push(sql);
    values.push(...given);
  };
  for (const folder of [path, question.path]) {
    if (folder !== undefined && folder !== '') {
      add('(d.path = ? OR (d.path >= ? AND d.path < ?))', folder, `${folder}/`, `${folder}0`);
    }
  }
  for (const name of [...(tag === undefined ? [] : [tag]), ...question.tags]) {
    add('EXISTS (SELECT 1 FROM json_each(d.tags) WHERE value = ?)', name);
  }
  const { among, ofDevices } = audiences;
  if (among !== undefined) {
    add(`d.org IN (${among.map(() => '?').join(', ')})`, ...among);
  }
  if (!ofDevices) {
    add('d.org >= 0');
  }
  return { sql: parts.join(' AND '), values, isOpen: parts.length === 1 };
}

/**
 * Returns expressions to try until something is found: rare words first if common ones would match
 * too much.
 */
function expressionsOf(concepts: readonly Concept[]): string[] {
  const byRarity = concepts.toSorted((a, b) => a.chunks - b.chunks);
  const all = byRarity.map(wordsOf);
  const total = byRarity.reduce((sum, { chunks }) => sum + chunks, 0);
  if (all.length === 0 || total <= maxMatches) {
    return all.length === 0 ? [] : [all.join(' OR ')];
  }
  let sum = 0;
  const rare = byRarity.filter(({ chunks }) => (sum += chunks) <= maxMatches);
  if (rare.length > 0) {
    return [rare.map(wordsOf).join(' OR ')];
  }
  const [first, second, third] = all;
  const together = [
    ...(third === undefined ? [] : [`(${first}) AND (${second}) AND (${third})`]),
    ...(second === undefined ? [] : [`(${first}) AND (${second})`]),
  ];
  return [...together, `{title heading} : (${first})`, first!];
}

const wordsOf = ({ variants }: Concept): string =>
  variants.map(({ terms }) => `"${terms.join(' ')}"`).join(' OR ');

const shown = (
  { doc, title, path, version, ordinal, heading, anchor, text }: Candidate,
  score: number,
  question: Question,
): Found => ({
  doc_id: doc,
  title,
  path,
  version,
  chunk: ordinal,
  heading,
  anchor,
  score: Math.round(score * 10_000) / 10_000,
  highlights: [highlightOf(text === '' ? heading : text, question)],
});

export interface TryRequest {
  readonly trial: Trial;
  readonly withheld: Withheld;
  readonly vector: QuestionVector;
  readonly weights: readonly number[];
}

/** The thread that answers searches, each from the index that serves at its moment. */
export async function openSearch({ data }: ThreadSetup): Promise<ThreadService> {
  const { folder } = data as IndexData;
  let open: { readonly file: string; readonly searcher: Searcher } | undefined;
  const close = (): void => {
    open?.searcher.close();
    open = undefined;
  };
  const searcherOf = (file: string | undefined): Searcher => {
    if (file !== open?.file) {
      close();
    }
    if (file === undefined) {
      throw errors.first_index({ retryAfterSeconds: 2 });
    }
    open ??= { file, searcher: new Searcher(file) };
    return open.searcher;
  };
  const asked = <R>(work: (searcher: Searcher) => R): R => {
    const file = servingFile(folder);
    try {
      return work(searcherOf(file));
    } catch (error) {
      // Another index took its place after the pointer was read, and this one was swept away before it was open.
      if (servingFile(folder) === file) {
        throw error;
      }
      return asked(work);
    }
  };
  return {
    methods: {
      search: (search: Search) => asked((searcher) => searcher.search(search)),
      trials: ({ limit }: { limit: number }) => asked((searcher) => searcher.trials(limit)),
      try: ({ trial, withheld, vector, weights }: TryRequest) =>
        asked((searcher) => searcher.try(trial, withheld, vector, weights)),
      tryFirst: (trial: Trial) => asked((searcher) => searcher.tryFirst(trial)),
    },
    close: async () => close(),
  };
}
