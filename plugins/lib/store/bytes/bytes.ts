import { type SvcError } from 'svc/sdk';
import { asBuffer, textOf } from 'svc/query';

import { errors } from './errors.ts';

const encoder = new TextEncoder();

/** Growing writer; the result of `take()` is only valid until the next use, unless it is copied. */
export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  /** Clears the output and keeps the memory. */
  reset(): void {
    this.#length = 0;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u16le(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.#length, value, true);
    this.#length += 2;
  }

  u32le(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  f64le(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  u64le(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#length, value, true);
    this.#length += 8;
  }

  /** A whole number from 0 to 2^53-1. */
  uvarint(value: number): void {
    this.#reserve(8);
    const bytes = this.#bytes;
    let at = this.#length;
    let rest = value;
    if (rest > 0x7fffffff) {
      while (rest > 0x7fffffff) {
        bytes[at++] = (rest % 128) | 0x80;
        rest = Math.floor(rest / 128);
      }
    }
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.#length = at;
  }

  /** Zigzag: small numbers of either sign are short. From -2^52 to 2^52-1. */
  svarint(value: number): void {
    this.uvarint(value >= 0 ? value * 2 : value * -2 - 1);
  }

  bytes(value: Uint8Array): void {
    const { length } = value;
    this.#reserve(length);
    if (length > 48) {
      this.#bytes.set(value, this.#length);
    } else {
      // A call into the runtime would cost more than the copy.
      for (let i = 0, bytes = this.#bytes, at = this.#length; i < length; i++) {
        bytes[at + i] = value[i]!;
      }
    }
    this.#length += length;
  }

  /** Writes many values, from 0 to 2^32-1 each: a column needs one capacity check. */
  uvarints(values: Uint32Array): void {
    this.#reserve(values.length * 5);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < values.length; i++) {
      let rest = values[i]!;
      while (rest > 0x7f) {
        bytes[at++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      bytes[at++] = rest;
    }
    this.#length = at;
  }

  /** The length as a uvarint, then the bytes. */
  block(value: Uint8Array): void {
    this.uvarint(value.length);
    this.bytes(value);
  }

  /** The length in bytes as a uvarint, then the text. */
  utf8(text: string): void {
    const { length } = text;
    this.#reserve(length * 3 + 8);
    if (length < 24 && this.#ascii(text)) {
      return;
    }
    const size = Buffer.byteLength(text);
    this.uvarint(size);
    encoder.encodeInto(text, this.#bytes.subarray(this.#length));
    this.#length += size;
  }

  /**
   * Writes short plain text, the most common kind, for which a loop is faster than a call into the
   * runtime.
   */
  #ascii(text: string): boolean {
    const bytes = this.#bytes;
    const start = this.#length + 1;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        return false;
      }
      bytes[start + i] = code;
    }
    bytes[this.#length] = text.length;
    this.#length = start + text.length;
    return true;
  }

  /** Overwrites four bytes that were written before, such as a length that is known only at the end. */
  patchU32le(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  /** Returns the output without a copy. */
  take(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
  }
}

/**
 * Reader of what a ByteWriter wrote. Every step is checked against the end: the data may be damaged
 * or forged.
 */
export class ByteReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    if (start < 0 || end > bytes.length || start > end) {
      throw truncated();
    }
    this.#bytes = asBuffer(bytes);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
    this.#end = end;
  }

  get position(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  seek(position: number): void {
    if (!(position >= 0 && position <= this.#end)) {
      throw truncated();
    }
    this.#at = position;
  }

  u8(): number {
    if (this.#at >= this.#end) {
      throw truncated();
    }
    return this.#bytes[this.#at++]!;
  }

  u16le(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32le(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  f64le(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  u64le(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  uvarint(): number {
    const bytes = this.#bytes;
    const end = this.#end;
    let at = this.#at;
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) {
        throw truncated();
      }
      const byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.#at = at;
        return value;
      }
    }
    return this.#longUvarint(at, value);
  }

  svarint(): number {
    const value = this.uvarint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A view into the input, not a copy. */
  bytes(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  block(): Uint8Array {
    return this.bytes(this.uvarint());
  }

  utf8(): string {
    const length = this.uvarint();
    const start = this.#advance(length);
    return textOf(this.#bytes, start, start + length);
  }

  #longUvarint(start: number, low: number): number {
    let at = start;
    let value = low;
    for (let factor = 2 ** 28; factor < 2 ** 56; factor *= 128) {
      if (at >= this.#end) {
        throw truncated();
      }
      const byte = this.#bytes[at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) {
          break;
        }
        this.#at = at;
        return value;
      }
    }
    throw errors.number_size();
  }

  #advance(length: number): number {
    const start = this.#at;
    // Also false for NaN.
    if (!(length >= 0 && length <= this.#end - start)) {
      throw truncated();
    }
    this.#at = start + length;
    return start;
  }
}

const truncated = (): SvcError => errors.cut_short();

/**
 * Returns the memory of these bytes for the `transfer` of a call to a thread: it moves instead of
 * being copied, and its previous owner loses it. Empty if others may share that memory, as with
 * small buffers of Node.
 */
export const memoryOf = ({ buffer, byteLength }: Uint8Array): ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
