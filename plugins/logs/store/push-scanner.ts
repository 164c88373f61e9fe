import type { Labels } from 'svc/telemetry';

import type { Batch } from './batch.ts';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** What a backslash and a letter stand for; 0 is no escape. */
const escapes = new Uint8Array(256);
for (const [letter, char] of Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' })) {
  escapes[letter.charCodeAt(0)] = char.charCodeAt(0);
}

/** The labels in the bytes of one object; undefined when there are none in them. */
export type LabelsAt = (from: number, to: number) => Labels | undefined;

/**
 * Reads a push of the shape that senders use, `{"streams":[{"stream":{…},"values":[["<nanoseconds>","line",{…}],…]},…]}`,
 * in one pass from its bytes to those of the batch: no text is made of a line. At the first byte that is anything else it
 * gives up, and whoever asked reads the body in a way that can tell what is wrong with it.
 */
export class PushScanner {
  readonly #from: Uint8Array;
  /** Of the body, and of the bytes of the batch: four of them at a time. */
  readonly #words: DataView;
  readonly #intoWords: DataView;
  readonly #end: number;
  readonly #batch: Batch;
  readonly #into: Uint8Array;
  readonly #labelsAt: LabelsAt;
  #at = 0;

  /** The body is UTF-8, and the batch has room for as many bytes as it has. */
  constructor(body: Uint8Array, batch: Batch, labelsAt: LabelsAt) {
    this.#from = body;
    this.#end = body.length;
    this.#batch = batch;
    this.#into = batch.bytes;
    this.#words = viewOf(body);
    this.#intoWords = viewOf(batch.bytes);
    this.#labelsAt = labelsAt;
  }

  /** Whether all of the body is in the batch. */
  push(): boolean {
    if (!this.#is(openObject) || !this.#named('streams') || !this.#is(openList)) {
      return false;
    }
    if (!this.#is(closeList)) {
      do {
        if (!this.#stream()) {
          return false;
        }
      } while (this.#is(comma));
      if (!this.#is(closeList)) {
        return false;
      }
    }
    return this.#is(closeObject) && this.#next() === -1;
  }

  #stream(): boolean {
    const from = this.#batch.count;
    if (!this.#is(openObject) || !this.#named('stream')) {
      return false;
    }
    const labels = this.#labels();
    if (labels === undefined || !this.#is(comma) || !this.#named('values') || !this.#values() || !this.#is(closeObject)) {
      return false;
    }
    this.#batch.part(labels, from);
    return true;
  }

  #values(): boolean {
    if (!this.#is(openList)) {
      return false;
    }
    if (this.#is(closeList)) {
      return true;
    }
    do {
      if (!this.#value()) {
        return false;
      }
    } while (this.#is(comma));
    return this.#is(closeList);
  }

  #value(): boolean {
    if (!this.#is(openList) || !this.#is(quote)) {
      return false;
    }
    const from = this.#from;
    const start = this.#at;
    // At least seven digits, so that there are whole milliseconds, and at most as many as always are a number of 64 bits.
    const digits = lengthOfDigits(from, start, this.#end);
    if (digits < 7 || digits > 18 + Number(from[start]! < 0x39)) {
      return false;
    }
    const at = start + digits;
    // In parts that are small whole numbers.
    const seconds = number(from, start, Math.max(start, at - 9));
    const ms = seconds * 1_000 + number(from, Math.max(start, at - 9), at - 6);
    const ns = number(from, at - 6, at);
    // As every sender writes it, without a space.
    const close = from[at] === quote && from[at + 1] === comma && from[at + 2] === quote;
    this.#at = close ? at + 3 : at;
    if ((!close && (!this.#is(quote) || !this.#is(comma) || !this.#is(quote))) || !this.#line()) {
      return false;
    }
    let meta = 0;
    if (this.#is(comma)) {
      const labels = this.#labels();
      if (labels === undefined) {
        return false;
      }
      meta = this.#batch.metaOf(labels);
    }
    this.#batch.close(ms, ns, meta);
    return this.#is(closeList);
  }

  /** The text behind a quote becomes the bytes behind those that the batch has. */
  #line(): boolean {
    const from = this.#from;
    const into = this.#into;
    const words = this.#words;
    const intoWords = this.#intoWords;
    const end = this.#end;
    let at = this.#at;
    let to = this.#batch.used;
    for (;;) {
      // What is copied too much is written over, and there is room for it: a line is shorter than what stands around it.
      for (let found = 0; found === 0 && at + 4 <= end;) {
        const word = words.getInt32(at, true);
        intoWords.setInt32(to, word, true);
        found = specials(word);
        const plain = found === 0 ? 4 : (31 - Math.clz32(found & -found)) >> 3;
        at += plain;
        to += plain;
      }
      const byte = at < end ? from[at]! : 0;
      if (byte === quote) {
        this.#at = at + 1;
        this.#batch.used = to;
        return true;
      }
      if (byte !== backslash) {
        return false;
      }
      const letter = at + 1 < end ? from[at + 1]! : 0;
      if (letter === 0x75) {
        const unit = unitAt(from, at + 2, end);
        // Halves of a pair are for the other reader: they are rare, and may stand alone.
        if (unit === -1 || (unit >= 0xd800 && unit <= 0xdfff)) {
          return false;
        }
        to = encode(unit, into, to);
        at += 6;
      } else {
        const char = escapes[letter]!;
        if (char === 0) {
          return false;
        }
        into[to++] = char;
        at += 2;
      }
    }
  }

  /** An object of texts, handed on as its bytes. */
  #labels(): Labels | undefined {
    if (!this.#is(openObject)) {
      return undefined;
    }
    const from = this.#from;
    const start = this.#at - 1;
    let at = this.#at;
    for (let inText = false; at < this.#end; at++) {
      const byte = from[at]!;
      if (byte === quote) {
        inText = !inText;
      } else if (inText) {
        at += Number(byte === backslash);
      } else if (byte === closeObject) {
        this.#at = at + 1;
        return this.#labelsAt(start, at + 1);
      } else if (byte === openObject || byte === openList) {
        return undefined;
      }
    }
    return undefined;
  }

  /** Steps over the name, in quotes, and the colon behind it. */
  #named(name: string): boolean {
    if (!this.#is(quote)) {
      return false;
    }
    for (let i = 0; i < name.length; i++) {
      if (this.#from[this.#at++] !== name.charCodeAt(i)) {
        return false;
      }
    }
    return this.#is(quote) && this.#is(colon);
  }

  /** Steps over the byte when it is the next one that is no space. */
  #is(byte: number): boolean {
    if (this.#next() !== byte) {
      return false;
    }
    this.#at++;
    return true;
  }

  #next(): number {
    for (; this.#at < this.#end; this.#at++) {
      const byte = this.#from[this.#at]!;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) {
        return byte;
      }
    }
    return -1;
  }
}

function number(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  for (let at = from; at < end; at++) {
    value = value * 10 + bytes[at]! - 0x30;
  }
  return value;
}

function lengthOfDigits(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) {
    at++;
  }
  return at - from;
}

/** Four hexadecimal digits; -1 when they are not. */
function unitAt(bytes: Uint8Array, from: number, end: number): number {
  if (from + 4 > end) {
    return -1;
  }
  let unit = 0;
  for (let i = from; i < from + 4; i++) {
    const byte = bytes[i]!;
    const letter = byte | 0x20;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
    if (digit === -1) {
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

/** As UTF-8; answers where it ends. */
function encode(unit: number, into: Uint8Array, at: number): number {
  if (unit < 0x80) {
    into[at] = unit;
    return at + 1;
  }
  if (unit < 0x800) {
    into[at] = 0xc0 | (unit >> 6);
    into[at + 1] = 0x80 | (unit & 63);
    return at + 2;
  }
  into[at] = 0xe0 | (unit >> 12);
  into[at + 1] = 0x80 | ((unit >> 6) & 63);
  into[at + 2] = 0x80 | (unit & 63);
  return at + 3;
}

/**
 * Which of four bytes end a run of plain text: the quote, the backslash, and those below the space. The lowest bit that is
 * set is the highest one of the first such byte; what stands above it means nothing.
 */
function specials(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  return (((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes) | ((word - 0x20202020) & ~word)) & 0x80808080;
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView => new DataView(buffer, byteOffset, length);
