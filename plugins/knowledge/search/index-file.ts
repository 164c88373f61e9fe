import Database from 'better-sqlite3';

import type { Change, WholeDoc } from '../documents/tables.ts';
import { analysisNumber, analyze } from './analyze.ts';
import { audienceOf } from './audience.ts';
import { type Chunk, chunksOf } from './chunk.ts';
import { errors } from './errors.ts';

/** Columns of the full-text table, in their order. */
export const columns = ['title', 'place', 'heading', 'body', 'whole'] as const;

const schema = `
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS docs (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, title TEXT NOT NULL, tags TEXT NOT NULL,
    org INTEGER NOT NULL, version INTEGER NOT NULL, source TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS docs_path ON docs (path);
  CREATE TABLE IF NOT EXISTS chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL, ordinal INTEGER NOT NULL, heading TEXT NOT NULL, anchor TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS chunks_doc ON chunks (doc);
  CREATE TABLE IF NOT EXISTS vocabulary (
    term TEXT NOT NULL, org INTEGER NOT NULL, docs INTEGER NOT NULL, chunks INTEGER NOT NULL, PRIMARY KEY (term, org)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS vectors (chunk INTEGER NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (chunk, model)) STRICT, WITHOUT ROWID;
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(${columns.join(', ')}, content='', contentless_delete=1, tokenize='ascii');
`;

export interface IndexPosition {
  /** The last change that is in it. */
  readonly seq: number;
  /** Identity of the database. */
  readonly lineage: string;
  readonly analysis: number;
  readonly docs: number;
  readonly chunks: number;
}

/** Frequencies of each term in documents of one audience, which only those in it may learn. */
type Counts = Map<number, Map<string, { docs: number; chunks: number }>>;

/** The term of every document: how many there are. */
export const everyDocument = '';

interface Words {
  readonly row: readonly string[];
  readonly terms: ReadonlySet<string>;
}

const textOf = (
  text: string,
): { words: string; terms: readonly string[]; wholes: readonly string[] } => {
  const { tokens, wholes } = analyze(text);
  const terms = tokens.map(({ term }) => term);
  return { words: terms.join(' '), terms, wholes };
};

/** One index, as its only writer sees it: documents go in whole, each step a transaction with the position that it leads to. */
export class IndexFile {
  readonly #db: Database.Database;
  readonly #statements: ReturnType<typeof prepared>;

  constructor(file: string) {
    this.#db = new Database(file);
    this.#db.pragma('journal_mode = WAL');
    // What a power cut takes is indexed again: the position goes with it.
    this.#db.pragma('synchronous = NORMAL');
    this.#db.pragma('cache_size = -16000');
    this.#db.pragma(`journal_size_limit = ${16 * 1024 * 1024}`);
    this.#db.exec(schema);
    this.#statements = prepared(this.#db);
  }

  position(): IndexPosition {
    const meta = new Map(
      (this.#db.prepare('SELECT key, value FROM meta').raw().all() as [string, string][]).map(
        ([key, value]) => [key, value],
      ),
    );
    return {
      seq: Number(meta.get('seq') ?? 0),
      lineage: meta.get('lineage') ?? '',
      analysis: Number(meta.get('analysis') ?? 0),
      docs: Number(meta.get('docs') ?? 0),
      chunks: Number(meta.get('chunks') ?? 0),
    };
  }

  /** An empty one says what it will be of. */
  begin(lineage: string): void {
    this.#meta({ lineage, analysis: String(analysisNumber), seq: '0', docs: '0', chunks: '0' });
  }

  /** Takes the changes after `from` in, all or none; resolves with how many chunks that were. */
  apply(from: number, changes: readonly Change[]): number {
    const counts: Counts = new Map();
    let chunks = 0;
    this.#db.transaction(() => {
      const before = this.position();
      if (before.seq !== from) {
        throw errors.index_moved({ from, seq: before.seq });
      }
      let docs = before.docs;
      let all = before.chunks;
      for (const { id, doc } of changes) {
        const taken = this.#take(id, counts);
        const put = doc === undefined ? 0 : this.#put(doc, counts);
        chunks += put;
        all += put - taken;
        docs += (put > 0 ? 1 : 0) - (taken > 0 ? 1 : 0);
      }
      for (const [org, terms] of counts) {
        for (const [term, { docs, chunks: inChunks }] of terms) {
          if (docs !== 0 || inChunks !== 0) {
            this.#statements.count.run(term, org, docs, inChunks);
          }
          if (docs < 0) {
            this.#statements.forgotten.run(term, org);
          }
        }
      }
      this.#meta({
        seq: String(changes.at(-1)?.seq ?? before.seq),
        docs: String(docs),
        chunks: String(all),
      });
    })();
    return chunks;
  }

  /** Chunks that have no vector of this model yet, with what is embedded of them. */
  unembedded(
    model: string,
    after: number,
    limit: number,
  ): readonly { readonly chunk: number; readonly text: string }[] {
    return this.#statements.unembedded.all(after, model, limit) as {
      chunk: number;
      text: string;
    }[];
  }

  embed(
    model: string,
    vectors: readonly { readonly chunk: number; readonly vector: Int8Array }[],
  ): void {
    this.#db.transaction(() => {
      for (const { chunk, vector } of vectors) {
        // The chunk may have gone while its vector was made.
        this.#statements.vector.run({
          model,
          chunk,
          vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
        });
      }
    })();
  }

  /** The one whose vectors serve. */
  model(): string | undefined {
    return (
      (this.#db.prepare("SELECT nullif(value, '') FROM meta WHERE key = 'model'").pluck().get() as
        | string
        | null
        | undefined) ?? undefined
    );
  }

  /**
   * Copies vectors of unchanged chunks from the previous index, so that none is missing when this
   * one replaces it.
   */
  carryVectors(file: string): void {
    this.#db.prepare('ATTACH ? AS before').run(file);
    try {
      this.#db
        .exec(`INSERT OR IGNORE INTO vectors (chunk, model, vector) SELECT n.id, v.model, v.vector FROM before.chunks o
        JOIN before.vectors v ON v.chunk = o.id JOIN chunks n ON n.doc = o.doc AND n.ordinal = o.ordinal AND n.text = o.text AND n.heading = o.heading;
        INSERT OR REPLACE INTO meta (key, value) SELECT key, value FROM before.meta WHERE key = 'model';`);
    } finally {
      this.#db.exec('DETACH before');
    }
  }

  /** Removes vectors of every model but this one. */
  keepModel(model: string | undefined): void {
    this.#db.prepare('DELETE FROM vectors WHERE model <> ?').run(model ?? '');
    this.#meta({ model: model ?? '' });
  }

  close(): void {
    this.#db.close();
  }

  /** Removes a document and returns the number of its chunks. */
  #take(id: number, counts: Counts): number {
    const known = this.#statements.doc.get(id) as
      | { path: string; title: string; tags: string; org: number }
      | undefined;
    if (known === undefined) {
      return 0;
    }
    const chunks = this.#statements.chunks.all(id) as {
      id: number;
      heading: string;
      text: string;
    }[];
    const words = wordsOf(
      known,
      chunks.map(({ heading, text }) => ({
        headings: heading.split(headingJoint),
        anchor: '',
        text,
      })),
    );
    tally(words, counts, known.org, -1);
    for (const { id: chunk } of chunks) {
      this.#statements.unword.run(chunk);
    }
    this.#statements.unvector.run(id);
    this.#statements.unchunk.run(id);
    this.#statements.undoc.run(id);
    return chunks.length;
  }

  #put(doc: WholeDoc, counts: Counts): number {
    const { id, path, title, tags, version, source, content } = doc;
    const audience = audienceOf(doc);
    const found = chunksOf(content);
    const chunks = found.length > 0 ? found : [{ headings: [], anchor: '', text: '' }];
    this.#statements.putDoc.run(id, path, title, tags, audience, version, source);
    const words = wordsOf({ path, title, tags }, chunks);
    tally(words, counts, audience, 1);
    chunks.forEach(({ headings, anchor, text }, ordinal) => {
      const { lastInsertRowid: rowid } = this.#statements.putChunk.run(
        id,
        ordinal,
        headings.join(headingJoint),
        anchor,
        text,
      );
      this.#statements.putWords.run(rowid, ...words[ordinal]!.row);
    });
    return chunks.length;
  }

  #meta(values: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(values)) {
      this.#statements.meta.run(key, value);
    }
  }
}

export const headingJoint = ' › ';

/** Returns the searchable words of a chunk, including its document's title, path and tags. */
function wordsOf(
  { path, title, tags }: { readonly path: string; readonly title: string; readonly tags: string },
  chunks: readonly Chunk[],
): Words[] {
  const named = textOf(title);
  const place = textOf(
    `${path.replace(/\.(?:md|markdown|txt|pdf|docx)$/i, '')} ${(JSON.parse(tags) as string[]).join(' ')}`,
  );
  return chunks.map(({ headings, text }) => {
    // The outermost heading mostly is the title once more.
    const heading = textOf(headings.filter((part) => part !== title).join(' '));
    const body = textOf(text);
    const wholes = [...named.wholes, ...place.wholes, ...heading.wholes, ...body.wholes];
    return {
      row: [named.words, place.words, heading.words, body.words, wholes.join(' ')],
      terms: new Set([...named.terms, ...place.terms, ...heading.terms, ...body.terms, ...wholes]),
    };
  });
}

function tally(words: readonly Words[], counts: Counts, org: number, sign: 1 | -1): void {
  const ofOrg = counts.get(org) ?? new Map<string, { docs: number; chunks: number }>();
  counts.set(org, ofOrg);
  const inDoc = new Set<string>();
  for (const { terms } of words) {
    for (const term of [everyDocument, ...terms]) {
      const count = ofOrg.get(term) ?? { docs: 0, chunks: 0 };
      ofOrg.set(term, count);
      count.chunks += sign;
      if (!inDoc.has(term)) {
        inDoc.add(term);
        count.docs += sign;
      }
    }
  }
}

const prepared = (db: Database.Database) => ({
  meta: db.prepare(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  ),
  doc: db.prepare('SELECT path, title, tags, org FROM docs WHERE id = ?'),
  chunks: db.prepare('SELECT id, heading, text FROM chunks WHERE doc = ? ORDER BY ordinal'),
  putDoc: db.prepare(
    'INSERT INTO docs (id, path, title, tags, org, version, source) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ),
  putChunk: db.prepare(
    'INSERT INTO chunks (doc, ordinal, heading, anchor, text) VALUES (?, ?, ?, ?, ?)',
  ),
  putWords: db.prepare(
    `INSERT INTO words (rowid, ${columns.join(', ')}) VALUES (?, ?, ?, ?, ?, ?)`,
  ),
  undoc: db.prepare('DELETE FROM docs WHERE id = ?'),
  unchunk: db.prepare('DELETE FROM chunks WHERE doc = ?'),
  unword: db.prepare('DELETE FROM words WHERE rowid = ?'),
  unvector: db.prepare('DELETE FROM vectors WHERE chunk IN (SELECT id FROM chunks WHERE doc = ?)'),
  count: db.prepare(
    `INSERT INTO vocabulary (term, org, docs, chunks) VALUES (?, ?, ?, ?)
     ON CONFLICT (term, org) DO UPDATE SET docs = docs + excluded.docs, chunks = chunks + excluded.chunks`,
  ),
  forgotten: db.prepare('DELETE FROM vocabulary WHERE term = ? AND org = ? AND docs <= 0'),
  unembedded: db.prepare(
    `SELECT c.id AS chunk, d.title || char(10) || c.heading || char(10) || c.text AS text FROM chunks c JOIN docs d ON d.id = c.doc
     WHERE c.id > ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id AND v.model = ?) ORDER BY c.id LIMIT ?`,
  ),
  vector: db.prepare(
    'INSERT OR REPLACE INTO vectors (chunk, model, vector) SELECT id, @model, @vector FROM chunks WHERE id = @chunk',
  ),
});
