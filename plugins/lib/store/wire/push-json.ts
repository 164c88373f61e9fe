import { errors } from './errors.ts';

/** Max levels of arrays and objects: those of OTLP's deepest attribute, three to a value, with some to spare. */
const deepest = 256;
/** A text up to this length is parsed at once. */
const pieceBytes = 64 * 1_024;
/** Max values in what cannot be read in pieces, such as the attributes of one resource. */
const maxValues = 200_000;

const [quote, backslash, comma, colon, bracket, brace] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b];
/** Meaning of each byte for the structure; 0 for none. */
const signs = new Uint8Array(256);
const [text, separating, opening, closing] = [1, 2, 3, 4];
signs[quote] = text;
signs[comma] = separating;
for (const open of [bracket, brace]) {
  // Both close two characters further on.
  signs[open] = opening;
  signs[open + 2] = closing;
}

/**
 * Parses a JSON body of a sender. One that is nested too deep is refused before it is parsed: each level takes the
 * parser some forty times its byte. Long lists under the names of `lists` become a `JsonList`, as objects take ten times
 * their text and more. Throws a SyntaxError for what is no JSON, inside of a `JsonList` when it is read.
 */
export function parsePushJson(body: Uint8Array, lists: readonly string[]): unknown {
  const pieces = new Pieces(body, new Set(lists));
  const from = pieces.pastSpace(0);
  return pieces.value(from, pieces.beforeSpace(body.length, from), false);
}

/** A list of the body that is parsed piece by piece while it is read. */
export class JsonList implements Iterable<unknown> {
  readonly #entries: () => Iterator<unknown>;

  constructor(entries: () => Iterator<unknown>) {
    this.#entries = entries;
  }

  [Symbol.iterator](): Iterator<unknown> {
    return this.#entries();
  }
}

/** Values between two places of a body: small ones are parsed, in large objects each field is such a value. */
class Pieces {
  readonly #body: Buffer;
  readonly #lists: ReadonlySet<string>;
  readonly #ends: ReadonlyMap<number, number>;

  constructor(body: Uint8Array, lists: ReadonlySet<string>) {
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#lists = lists;
    this.#ends = longEnds(body);
  }

  value(from: number, to: number, isList: boolean): unknown {
    const first = this.#body[from];
    if (to - from <= pieceBytes || (first !== brace && !(first === bracket && isList))) {
      return this.#whole(from, to);
    }
    return first === brace ? this.#object(from, to) : new JsonList(() => this.#entries(from, to));
  }

  #whole(from: number, to: number): unknown {
    if (to - from > pieceBytes) {
      this.#assertFew(from, to);
    }
    return parsed(this.#body.toString('utf8', from, to), from);
  }

  #object(from: number, to: number): Readonly<Record<string, unknown>> {
    // Without a prototype, any name is only a name.
    const fields = Object.create(null) as Record<string, unknown>;
    for (const [start, end] of this.#parts(from, to)) {
      const nameEnd = this.#body[start] === quote ? textEnd(this.#body, start) : start;
      const sign = this.pastSpace(nameEnd);
      if (nameEnd === start || this.#body[sign] !== colon) {
        throw new SyntaxError(`a field without a name or value at byte ${start}`);
      }
      const name = parsed(this.#body.toString('utf8', start, nameEnd), start) as string;
      const at = this.pastSpace(sign + 1);
      fields[name] = this.value(at, this.beforeSpace(end, at), this.#lists.has(name));
    }
    return fields;
  }

  *#entries(from: number, to: number): Generator<unknown, undefined> {
    let [pieceAt, pieceEnd] = [from + 1, from + 1];
    for (const [start, end] of this.#parts(from, to)) {
      if (end - pieceAt > pieceBytes && pieceEnd > pieceAt) {
        yield* this.#piece(pieceAt, pieceEnd);
        pieceAt = start;
      }
      if (end - start > pieceBytes) {
        yield this.value(start, this.beforeSpace(end, start), false);
        pieceAt = end + 1;
      }
      pieceEnd = end;
    }
    if (pieceEnd > pieceAt) {
      yield* this.#piece(pieceAt, pieceEnd);
    }
  }

  #piece(from: number, to: number): readonly unknown[] {
    return parsed(`[${this.#body.toString('utf8', from, to)}]`, from) as unknown[];
  }

  /** The parts of an array or object between its commas, from their first character on; the last ends at the bracket. */
  *#parts(from: number, to: number): Generator<readonly [start: number, end: number]> {
    if (this.#body[to - 1] !== this.#body[from]! + 2) {
      throw new SyntaxError(`what begins at byte ${from} does not end as it began`);
    }
    let start = this.pastSpace(from + 1);
    if (start === to - 1) {
      return;
    }
    for (;;) {
      const end = this.#partEnd(start);
      if (start === end) {
        throw new SyntaxError(`nothing before the comma or bracket at byte ${end}`);
      }
      yield [start, end];
      if (this.#body[end] !== comma) {
        if (end !== to - 1) {
          throw new SyntaxError(`a bracket too many at byte ${end}`);
        }
        return;
      }
      start = this.pastSpace(end + 1);
    }
  }

  /** Finds the comma or bracket that ends a part. */
  #partEnd(from: number): number {
    const body = this.#body;
    let depth = 0;
    for (let at = this.#ends.get(from) ?? from; at < body.length; at++) {
      const sign = signs[body[at]!]!;
      if (sign === text) {
        at = textEnd(body, at) - 1;
      } else if (sign === opening) {
        depth += 1;
      } else if (depth === 0 && sign !== 0) {
        return at;
      } else if (sign === closing) {
        depth -= 1;
      }
    }
    throw new SyntaxError('the text ends before its arrays and objects');
  }

  pastSpace(from: number): number {
    let at = from;
    while (isSpace(this.#body[at])) {
      at += 1;
    }
    return at;
  }

  beforeSpace(to: number, least: number): number {
    let at = to;
    while (at > least && isSpace(this.#body[at - 1])) {
      at -= 1;
    }
    return at;
  }

  #assertFew(from: number, to: number): void {
    let values = 0;
    for (let at = from; at < to; at++) {
      const sign = signs[this.#body[at]!]!;
      if (sign === text) {
        at = textEnd(this.#body, at) - 1;
      } else if (sign === separating || sign === opening) {
        values += 1;
        if (values > maxValues) {
          throw errors.json_values({ max: maxValues });
        }
      }
    }
  }
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function parsed(json: string, from: number): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw from === 0
      ? error
      : new SyntaxError(`${(error as Error).message}, from byte ${from} on`, { cause: error });
  }
}

/**
 * Finds the ends of arrays and objects that are longer than a piece, by their beginnings. Throws for those that are nested too
 * deep; where the body is no JSON, what is found means nothing.
 */
function longEnds(body: Uint8Array): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const begun = new Uint32Array(deepest);
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const sign = signs[body[at]!]!;
    if (sign === text) {
      at = textEnd(body, at) - 1;
    } else if (sign === opening) {
      if (depth === deepest) {
        throw errors.json_depth({ max: deepest });
      }
      begun[depth] = at;
      depth += 1;
    } else if (sign === closing && depth > 0) {
      depth -= 1;
      if (at - begun[depth]! > pieceBytes) {
        found.set(begun[depth]!, at + 1);
      }
    }
  }
  return found;
}

/** Finds the end of the text that begins with the quote at `from`; past the body if it has none. */
function textEnd(body: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < body.length && body[at] !== quote) {
    at += body[at] === backslash ? 2 : 1;
  }
  return at + 1;
}
