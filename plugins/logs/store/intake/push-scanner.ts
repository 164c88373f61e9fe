import type { Labels } from 'svc/query';

import type { Batch } from '../lines/batch.ts';
import { fourDigits, lengthOfDigits, number } from '../lines/nanos.ts';
import { encode, escapes, plainIn, specials, unitAt } from './json-text.ts';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Byte sequences as every sender writes them, without a space: `","` and `],["`. */
const toLine = 0x222c22;
const toNextValue = 0x225b2c5d;

/**
 * Returns the labels in the bytes of one object, of a stream or of a line's metadata; undefined if
 * they contain none.
 */
export type LabelsAt = (from: number, to: number, beside: boolean) => Labels | undefined;

/**
 * Parser of pushes in the shape that senders use,
 * `{"streams":[{"stream":{…},"values":[["<nanoseconds>","line",{…}],…]},…]}`, in one pass from its
 * bytes to those of the batch: no string is made of a line. At the first unexpected byte it gives
 * up, and the caller parses the body in a way that can tell what is wrong with it.
 */
export class PushScanner {
  readonly #from: Uint8Array;
  /** Views of the body and of the batch's bytes, four bytes at a time. */
  readonly #words: DataView;
  readonly #intoWords: DataView;
  readonly #end: number;
  readonly #batch: Batch;
  readonly #into: Uint8Array;
  readonly #labelsAt: LabelsAt;
  #at = 0;
  /** Time of the value being read. */
  #ms = 0;
  #ns = 0;

  /** Takes a body in UTF-8, and a batch with capacity for its size. */
  constructor(body: Uint8Array, batch: Batch, labelsAt: LabelsAt) {
    this.#from = body;
    this.#end = body.length;
    this.#batch = batch;
    this.#into = batch.bytes;
    this.#words = viewOf(body);
    this.#intoWords = viewOf(batch.bytes);
    this.#labelsAt = labelsAt;
  }

  /** Returns whether the whole body was added to the batch. */
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
    const labels = this.#labels(false);
    if (
      labels === undefined ||
      !this.#is(comma) ||
      !this.#named('values') ||
      !this.#values() ||
      !this.#is(closeObject)
    ) {
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
      if (!this.#is(openList) || !this.#is(quote)) {
        return false;
      }
      do {
        if (!this.#value()) {
          return false;
        }
      } while (this.#isNextValue());
      if (!this.#is(closeList)) {
        return false;
      }
    } while (this.#is(comma));
    return this.#is(closeList);
  }

  /** Reads from after the quote of the nanoseconds: those, a line and optional metadata. */
  #value(): boolean {
    if ((!this.#usualStamp() && !this.#anyStamp()) || !this.#line()) {
      return false;
    }
    let meta = 0;
    if (this.#is(comma)) {
      const labels = this.#labels(true);
      if (labels === undefined) {
        return false;
      }
      meta = this.#batch.metaOf(labels);
    }
    this.#batch.close(this.#ms, this.#ns, meta);
    return true;
  }

  /**
   * Steps over nineteen digits, as since the year 2001, and then the line; does not move if
   * anything else is there.
   */
  #usualStamp(): boolean {
    const start = this.#at;
    const words = this.#words;
    if (start + 23 > this.#end || (words.getInt32(start + 19, true) & 0xffffff) !== toLine) {
      return false;
    }
    const a = fourDigits(words.getInt32(start, true));
    const b = fourDigits(words.getInt32(start + 4, true));
    const c = fourDigits(words.getInt32(start + 8, true));
    const d = fourDigits(words.getInt32(start + 12, true));
    const last = fourDigits(words.getInt32(start + 15, true));
    // From 9 on it need not be a number of 64 bits.
    if ((a | b | c | d | last) < 0 || a >= 9_000) {
      return false;
    }
    const tens = (d / 1_000) | 0;
    this.#ms = (a * 10_000 + b) * 100_000 + c * 10 + tens;
    this.#ns = (d - tens * 1_000) * 1_000 + (last % 1_000);
    this.#at = start + 22;
    return true;
  }

  #anyStamp(): boolean {
    const from = this.#from;
    const start = this.#at;
    const digits = lengthOfDigits(from, start, this.#end);
    // At least seven, so that there are whole milliseconds, and at most as many as always fit into
    // 64 bits.
    if (digits < 7 || digits > 18 + Number(from[start]! < 0x39)) {
      return false;
    }
    const at = start + digits;
    // In parts that are small whole numbers.
    const seconds = number(from, start, Math.max(start, at - 9));
    this.#ms = seconds * 1_000 + number(from, Math.max(start, at - 9), at - 6);
    this.#ns = number(from, at - 6, at);
    this.#at = at;
    return this.#is(quote) && this.#is(comma) && this.#is(quote);
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
      // Excess bytes are overwritten later, and there is capacity for them: a line is shorter than
      // what surrounds it.
      let found = 0;
      while (found === 0 && at + 8 <= end) {
        const first = words.getInt32(at, true);
        const second = words.getInt32(at + 4, true);
        intoWords.setInt32(to, first, true);
        intoWords.setInt32(to + 4, second, true);
        found = specials(first);
        let plain = 0;
        if (found === 0) {
          found = specials(second);
          plain = 4;
        }
        plain += plainIn(found);
        at += plain;
        to += plain;
      }
      while (found === 0 && at + 4 <= end) {
        const word = words.getInt32(at, true);
        intoWords.setInt32(to, word, true);
        found = specials(word);
        const plain = plainIn(found);
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
        // Surrogates are left to the other parser: they are rare, and may be unpaired.
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
  #labels(beside: boolean): Labels | undefined {
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
        return this.#labelsAt(start, at + 1, beside);
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

  /** Steps from one line to after the quote of the next one, if nothing else is between them. */
  #isNextValue(): boolean {
    if (this.#at + 4 > this.#end || this.#words.getInt32(this.#at, true) !== toNextValue) {
      return false;
    }
    this.#at += 4;
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

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, length);
