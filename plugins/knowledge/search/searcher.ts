import Database from 'better-sqlite3';
import type { ThreadService, ThreadSetup } from 'svc/thread';

import type { Audiences } from './audience.ts';
import { Vocabulary } from './corrections.ts';
import { errors } from './errors.ts';
import { type Highlight, highlightOf } from './excerpt.ts';
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
  /** Organizations whose documents are seen besides everybody's; undefined: all. */
  /** Audiences of the reader; undefined means all. */
  readonly audiences: Audiences;
  readonly mode: Mode;
  /** Vector of the text, if a model was available. */
  readonly vector: { readonly model: string; readonly values: Float32Array } | undefined;
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
}

/** Chunks that one look into the full-text table may match before only its rarest words decide. */
const maxMatches = 8_000;
const candidates = 80;
/**
 * Constant of reciprocal rank fusion: how little the difference between first and third matters.
 */
const evenness = 30;

interface Filter {
  readonly sql: string;
  readonly values: readonly (string | number)[];
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

  #answer(search: Search): Answer {
    const question = questionOf(search.text, new Vocabulary(this.#db, search.audiences));
    const filter = filterOf(search, question);
    const similar =
      search.mode === 'lexical' || !search.vector
        ? undefined
        : this.#similar(search.vector, filter);
    const lexical =
      search.mode === 'vector' && similar ? [] : ordered(this.#matches(question, filter), question);
    const ranked = similar === undefined ? lexical : fused(lexical, similar);
    const items = ranked
      .slice(0, search.limit)
      .map(({ candidate, score }) => shown(candidate, score, question));
    return { items, mode: similar === undefined ? 'lexical' : search.mode };
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

  #similar(
    { model, values }: { readonly model: string; readonly values: Float32Array },
    filter: Filter,
  ): Candidate[] | undefined {
    const near = this.#vectors.nearest(model, values, candidates);
    return near && this.#candidates(near, filter);
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
  return { sql: parts.join(' AND '), values };
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

/** Fuses both orders by the ranks of documents in each. */
function fused(lexical: readonly Ranked[], similar: readonly Candidate[]): Ranked[] {
  const docs = new Map<number, Ranked>();
  const take = (all: readonly Candidate[]): void => {
    const seen = new Set<number>();
    for (const candidate of all) {
      if (!seen.has(candidate.doc)) {
        seen.add(candidate.doc);
        const known = docs.get(candidate.doc);
        docs.set(candidate.doc, {
          candidate: known?.candidate ?? candidate,
          score: (known?.score ?? 0) + 1 / (evenness + seen.size),
        });
      }
    }
  };
  take(lexical.map(({ candidate }) => candidate));
  take(similar);
  return [...docs.values()].sort(
    (a, b) => b.score - a.score || a.candidate.chunk - b.candidate.chunk,
  );
}

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
  const answer = (search: Search): Answer => {
    const file = servingFile(folder);
    try {
      return searcherOf(file).search(search);
    } catch (error) {
      // Another index took its place after the pointer was read, and this one was swept away before it was open.
      if (servingFile(folder) === file) {
        throw error;
      }
      return answer(search);
    }
  };
  return {
    methods: { search: answer },
    close: async () => close(),
  };
}
