/** A source map of version 3, as its file has it. */
export interface SourceMapText {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** Lines and columns count from one. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Origin extends Place {
  readonly source: string;
}

const digits = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const valueOf = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, digits.indexOf(code)));
const [comma, semicolon] = [','.charCodeAt(0), ';'.charCodeAt(0)];

/**
 * Returns the origin of each of these positions: the last segment at or before it. Reads the text
 * of the map once without expanding it.
 */
export function originsOf(
  { sources, mappings }: SourceMapText,
  places: readonly Place[],
): readonly (Origin | undefined)[] {
  const origins: (Origin | undefined)[] = places.map(() => undefined);
  const order = [...places.keys()].sort(
    (a, b) => places[a]!.line - places[b]!.line || places[a]!.column - places[b]!.column,
  );
  const reader = new Segments(mappings);
  const last = { source: -1, line: 0, column: 0 };
  for (const index of order) {
    const { line, column } = places[index]!;
    while (reader.reaches(line - 1, column - 1)) {
      last.source = reader.hasSource ? reader.source : -1;
      last.line = reader.line + 1;
      last.column = reader.column + 1;
      reader.next();
    }
    const source = sources[last.source];
    origins[index] = source === undefined ? undefined : { ...last, source };
  }
  return origins;
}

/** The segments of a map, one after another, without a piece of memory for each. */
class Segments {
  readonly #text: string;
  #at = 0;
  #toLine = 0;
  #toColumn = 0;
  #isOver = false;
  hasSource = false;
  source = 0;
  line = 0;
  column = 0;

  constructor(text: string) {
    this.#text = text;
    this.next();
  }

  /** Returns whether this segment is at or before a position. */
  reaches(line: number, column: number): boolean {
    return (
      !this.#isOver && (this.#toLine < line || (this.#toLine === line && this.#toColumn <= column))
    );
  }

  next(): void {
    for (let char = this.#char; char === comma || char === semicolon; char = this.#char) {
      this.#at += 1;
      if (char === semicolon) {
        this.#toLine += 1;
        this.#toColumn = 0;
      }
    }
    this.#isOver = this.#at >= this.#text.length;
    if (this.#isOver) {
      return;
    }
    this.#toColumn += this.#number();
    this.hasSource = this.#isWithin;
    if (this.hasSource) {
      this.source += this.#number();
      this.line += this.#number();
      this.column += this.#number();
    }
    while (this.#isWithin) {
      // The name, which a stack has already.
      this.#number();
    }
  }

  get #char(): number {
    return this.#text.charCodeAt(this.#at);
  }

  get #isWithin(): boolean {
    return this.#at < this.#text.length && this.#char !== comma && this.#char !== semicolon;
  }

  /** Five bits a character, the lowest first; the lowest of all is the sign. */
  #number(): number {
    let [value, shift, bits] = [0, 0, 32];
    while (bits & 32 && this.#at < this.#text.length) {
      bits = valueOf[this.#char & 127]!;
      value |= (bits & 31) << shift;
      shift += 5;
      this.#at += 1;
    }
    return value & 1 ? -(value >>> 1) : value >>> 1;
  }
}
