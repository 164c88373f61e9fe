import type Database from 'better-sqlite3';

/** A vector of length one in bytes: a hundred thousand of 768 numbers are 77 MB, and the order they give is the same. */
export function packed(values: ArrayLike<number>): Int8Array {
  const length = Math.sqrt(Array.from(values).reduce((sum, value) => sum + value * value, 0)) || 1;
  return Int8Array.from(values, (value) =>
    Math.max(-127, Math.min(127, Math.round((value / length) * 127))),
  );
}

interface Loaded {
  readonly model: string;
  readonly width: number;
  readonly chunks: number[];
  /** Row after row. */
  table: Int8Array;
}

/** The vectors of one model in memory, read when they are first asked for and as they are added. */
export class VectorTable {
  readonly #added: Database.Statement;
  readonly #model: Database.Statement;
  #loaded: Loaded | undefined;

  constructor(db: Database.Database) {
    this.#added = db.prepare(
      'SELECT chunk, vector FROM vectors WHERE model = ? AND chunk > ? ORDER BY chunk',
    );
    this.#model = db.prepare("SELECT value FROM meta WHERE key = 'model'").pluck();
  }

  /**
   * Returns the most similar chunks in order; undefined if the vectors in use belong to another
   * model.
   */
  nearest(model: string, values: Float32Array, most: number): number[] | undefined {
    if (this.#model.get() !== model) {
      return undefined;
    }
    const { chunks, table, width } = this.#load(model, values.length);
    if (width !== values.length) {
      return undefined;
    }
    const asked = packed(values);
    const scores = new Int32Array(chunks.length);
    for (let row = 0, at = 0; row < chunks.length; row++) {
      let sum = 0;
      for (let column = 0; column < width; column++) {
        sum += table[at++]! * asked[column]!;
      }
      scores[row] = sum;
    }
    return [...scores.keys()]
      .sort((a, b) => scores[b]! - scores[a]!)
      .slice(0, most)
      .map((row) => chunks[row]!);
  }

  #load(model: string, width: number): Loaded {
    const known: Loaded =
      this.#loaded?.model === model
        ? this.#loaded
        : { model, width, chunks: [], table: new Int8Array(0) };
    this.#loaded = known;
    for (const { chunk, vector } of this.#added.iterate(
      model,
      known.chunks.at(-1) ?? 0,
    ) as Iterable<{ chunk: number; vector: Buffer }>) {
      if (vector.length === known.width) {
        known.chunks.push(chunk);
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
