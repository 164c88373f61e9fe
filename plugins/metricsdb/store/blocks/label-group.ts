import { labelsKey, type Labels, type Matcher } from 'svc/query';

import { RowMatcher } from '../columns/row-matcher.ts';
import { Cursor } from '../columns/scratch.ts';

/** The labels of up to 1,024 neighbouring series of a block, with symbols of their own. */
export class LabelGroup {
  readonly bytes: number;
  readonly #symbols: readonly string[];
  readonly #bySymbol: ReadonlyMap<string, number>;
  readonly #pairs: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #made: (Labels | undefined)[];
  readonly #keys: (string | undefined)[];

  constructor(section: Uint8Array) {
    const cursor = new Cursor(section);
    this.#symbols = readTexts(cursor);
    this.#bySymbol = new Map(this.#symbols.map((text, symbol) => [text, symbol]));
    const count = cursor.uvarint();
    const pairs: number[] = [];
    this.#starts = new Uint32Array(count + 1);
    for (let row = 0; row < count; row++) {
      for (let left = cursor.uvarint() * 2; left > 0; left--) {
        pairs.push(cursor.uvarint());
      }
      this.#starts[row + 1] = pairs.length;
    }
    this.#pairs = Uint32Array.from(pairs);
    this.#made = Array.from<Labels | undefined>({ length: count });
    this.#keys = Array.from<string | undefined>({ length: count });
    this.bytes = section.length * 3 + this.#pairs.byteLength + count * 400;
  }

  get count(): number {
    return this.#made.length;
  }

  /** Adds the rows of `[from, to)` that match, counted from `offset`, to `found`. */
  match(
    matchers: readonly Matcher[],
    from: number,
    to: number,
    offset: number,
    found: number[],
  ): void {
    const rows = new RowMatcher(this.#symbols, (text) => this.#bySymbol.get(text), matchers);
    if (rows.never) {
      return;
    }
    for (let row = from; row < to; row++) {
      if (rows.matches(this.#pairs, this.#starts[row]!, this.#starts[row + 1]!)) {
        found.push(offset + row);
      }
    }
  }

  labels(row: number): Labels {
    return (this.#made[row] ??= Object.freeze(
      Array.from(
        this.#pairs.subarray(this.#starts[row], this.#starts[row + 1]),
        (symbol) => this.#symbols[symbol]!,
      ),
    ));
  }

  key(row: number): string {
    return (this.#keys[row] ??= labelsKey(this.labels(row)));
  }

  /** The values of a label among rows. */
  values(name: string, rows: Iterable<number>, into: Set<string>): void {
    const wanted = this.#bySymbol.get(name);
    if (wanted === undefined) {
      return;
    }
    for (const row of rows) {
      for (let i = this.#starts[row]!; i < this.#starts[row + 1]!; i += 2) {
        if (this.#pairs[i] === wanted) {
          into.add(this.#symbols[this.#pairs[i + 1]!]!);
        }
      }
    }
  }
}

/** Groups that were read lately, of all blocks together. */
export class GroupCache {
  readonly #maxBytes: number;
  /** Groups, least recently used first. */
  readonly #groups = new Map<string, LabelGroup>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string, load: () => LabelGroup): LabelGroup {
    const known = this.#groups.get(key);
    if (known !== undefined) {
      this.#groups.delete(key);
      this.#groups.set(key, known);
      return known;
    }
    const group = load();
    this.#groups.set(key, group);
    this.#bytes += group.bytes;
    for (const [oldest, { bytes }] of this.#groups) {
      if (this.#bytes <= this.#maxBytes || oldest === key) {
        break;
      }
      this.#groups.delete(oldest);
      this.#bytes -= bytes;
    }
    return group;
  }
}

export function readTexts(cursor: Cursor): string[] {
  return Array.from({ length: cursor.uvarint() }, () =>
    Buffer.from(cursor.take(cursor.uvarint())).toString(),
  );
}
