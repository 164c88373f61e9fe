/** A line, or one of the parts of a line that is too long. */
export interface Line {
  readonly text: string;
  /** Number of the part, from 1; 0 for a whole line. */
  readonly part: number;
  /** The last part. */
  readonly ends: boolean;
}

export interface Splitting {
  /** Number of parts of the first line that are shipped already. */
  readonly part: number;
  readonly maxBytes: number;
  /** Returns whether a line begins an entry; if absent, each line does. */
  readonly starts?: ((line: string) => boolean) | undefined;
  /** End of input: what is there is complete. `lines` means as far as there are whole lines. */
  readonly over?: 'lines' | 'all' | undefined;
}

export interface Split {
  readonly lines: readonly Line[];
  /** Bytes that the lines took. */
  readonly used: number;
  /** Parts of the line that follows which were taken. */
  readonly part: number;
}

const newline = 10;
const carriageReturn = 13;
/** Bytes of a line that are examined to see whether it begins an entry. */
const lookBytes = 1_024;

/** Takes whole entries from the front of `bytes`; what may still grow stays, unless it is too long already. */
export function splitLines(bytes: Buffer, options: Splitting): Split {
  const lines: Line[] = [];
  let at = 0;
  let part = options.part;
  while (at < bytes.length) {
    if (part === 0) {
      // Zeros left by a writer that does not append, in a file that was truncated under it.
      at = afterZeros(bytes, at);
    }
    const end = endOfEntry(bytes, at, options);
    const stop = end?.stop ?? bytes.length;
    if (at === bytes.length || (end === undefined && stop - at <= options.maxBytes)) {
      break;
    }
    const { text, next } = piece(bytes, at, stop, options.maxBytes);
    const isWhole = end !== undefined && next === stop;
    lines.push({ text, part: isWhole && part === 0 ? 0 : part + 1, ends: isWhole });
    part = isWhole ? 0 : part + 1;
    at = isWhole ? end.next : next;
  }
  return { lines, used: at, part };
}

function afterZeros(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0) {
    at++;
  }
  return at;
}

/**
 * Returns where the text of the entry ends and the next one begins; undefined if that is not known
 * yet.
 */
function endOfEntry(bytes: Buffer, from: number, { starts, over }: Splitting): End | undefined {
  let last = bytes.indexOf(newline, from);
  const all: End = { stop: bytes.length, next: bytes.length };
  if (last < 0) {
    return over === 'all' ? all : undefined;
  }
  while (starts !== undefined) {
    const next = last + 1;
    const after = bytes.indexOf(newline, next);
    if (next === bytes.length || (after < 0 && over !== 'all')) {
      // What follows is not here yet, or incomplete.
      return over === undefined ? undefined : lineEnd(bytes, from, last);
    }
    const stop = after < 0 ? bytes.length : after;
    if (starts(bytes.toString('utf8', next, Math.min(stop, next + lookBytes)))) {
      break;
    }
    if (after < 0) {
      return all;
    }
    last = after;
  }
  return lineEnd(bytes, from, last);
}

interface End {
  readonly stop: number;
  readonly next: number;
}

function lineEnd(bytes: Buffer, from: number, at: number): End {
  return { stop: at > from && bytes[at - 1] === carriageReturn ? at - 1 : at, next: at + 1 };
}

/**
 * Returns as much text as fits; bytes that are not UTF-8 become U+FFFD, which takes three bytes for
 * one.
 */
export function piece(
  bytes: Buffer,
  from: number,
  stop: number,
  maxBytes: number,
): { text: string; next: number } {
  let next = stop - from > maxBytes ? wholeCharacters(bytes, from, from + maxBytes) : stop;
  let text = bytes.toString('utf8', from, next);
  if ((next - from) * 3 > maxBytes && Buffer.byteLength(text) > maxBytes) {
    next = wholeCharacters(bytes, from, from + Math.floor(maxBytes / 3));
    text = bytes.toString('utf8', from, next);
  }
  return { text, next };
}

/** The last place up to `to` that is not within a character. */
function wholeCharacters(bytes: Buffer, from: number, to: number): number {
  let at = to;
  while (at > to - 3 && at > from + 1 && (bytes[at]! & 0xc0) === 0x80) {
    at--;
  }
  return (bytes[at]! & 0xc0) === 0x80 ? to : at;
}
