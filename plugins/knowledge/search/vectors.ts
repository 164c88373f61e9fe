import type Database from 'better-sqlite3';

/** A vector of length one in bytes: a hundred thousand of 768 numbers are 77 MB, and the order they give is the same. */
export function packed(values: ArrayLike<number>): Int8Array {
  const length = Math.sqrt(Array.from(values).reduce((sum, value) => sum + value * value, 0)) || 1;
  return Int8Array.from(values, (value) =>
    Math.max(-127, Math.min(127, Math.round((value / length) * 127))),
  );
}

/** Chunk with its cosine to what was asked. */
export interface Near {
  readonly chunk: number;
  readonly similarity: number;
}

interface Loaded {
  readonly model: string;
  readonly width: number;
  readonly chunks: number[];
  readonly docs: number[];
  /** Row after row. */
  table: Int8Array;
}

/** Returns the cosine of two packed vectors. */
export const similarityOf = (a: Int8Array, b: Int8Array): number =>
  a.reduce((sum, value, at) => sum + value * b[at]!, 0) / (127 * 127);

/** The vectors of one model in memory, read when they are first asked for and as they are added. */
export class VectorTable {
  readonly #added: Database.Statement;
  readonly #model: Database.Statement;
  #loaded: Loaded | undefined;

  constructor(db: Database.Database) {
    this.#added = db.prepare(
      `SELECT v.chunk, c.doc, v.vector FROM vectors v JOIN chunks c ON c.id = v.chunk
       WHERE v.model = ? AND v.chunk > ? ORDER BY v.chunk`,
    );
    this.#model = db.prepare("SELECT value FROM meta WHERE key = 'model'").pluck();
  }

  /**
   * Returns the chunks of these documents, or of all, with the most similar one first; undefined if
   * the vectors in use belong to another model. A chunk may have been removed since.
   */
  nearest(
    model: string,
    values: Float32Array,
    docs: ReadonlySet<number> | undefined,
  ): Iterable<Near> | undefined {
    if (this.#model.get() !== model) {
      return undefined;
    }
    const { chunks, docs: docOf, table, width } = this.#load(model, values.length);
    if (width !== values.length) {
      return undefined;
    }
    const asked = packed(values);
    const scores = new Int32Array(chunks.length);
    const rows: number[] = [];
    for (let row = 0; row < chunks.length; row++) {
      if (docs !== undefined && !docs.has(docOf[row]!)) {
        continue;
      }
      let sum = 0;
      for (let column = 0, at = row * width; column < width; column++) {
        sum += table[at++]! * asked[column]!;
      }
      scores[row] = sum;
      rows.push(row);
    }
    rows.sort((a, b) => scores[b]! - scores[a]!);
    return inOrder(rows, chunks, scores);
  }

  #load(model: string, width: number): Loaded {
    const known: Loaded =
      this.#loaded?.model === model
        ? this.#loaded
        : { model, width, chunks: [], docs: [], table: new Int8Array(0) };
    this.#loaded = known;
    for (const { chunk, doc, vector } of this.#added.iterate(
      model,
      known.chunks.at(-1) ?? 0,
    ) as Iterable<{ chunk: number; doc: number; vector: Buffer }>) {
      if (vector.length === known.width) {
        known.chunks.push(chunk);
        known.docs.push(doc);
        if (known.table.length < known.chunks.length * known.width) {
          const larger = new Int8Array(Math.max(64, known.chunks.length * 2) * known.width);
          larger.set(known.table);
          known.table = larger;
        }
        known.table.set(vector, (known.chunks.length - 1) * known.width);
      }
    }
    return known;
  }
}

function* inOrder(
  rows: readonly number[],
  chunks: readonly number[],
  scores: Int32Array,
): Generator<Near> {
  for (const row of rows) {
    yield { chunk: chunks[row]!, similarity: scores[row]! / (127 * 127) };
  }
}
