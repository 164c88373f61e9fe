import { type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/** Growing buffer for reuse: its content is valid until the next `reset`. */
export class Scratch {
  bytes: Uint8Array;
  view: DataView;
  at = 0;

  constructor(size = 4_096) {
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
  }

  reset(): this {
    this.at = 0;
    return this;
  }

  /** Ensures capacity for `more` bytes after `at`. */
  ensure(more: number): void {
    if (this.at + more > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + more));
      grown.set(this.bytes.subarray(0, this.at));
      this.bytes = grown;
      this.view = new DataView(grown.buffer);
    }
  }

  u8(value: number): void {
    this.ensure(1);
    this.bytes[this.at++] = value;
  }

  f64(value: number): void {
    this.ensure(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** Whole numbers from 0 to 2^53. */
  uvarint(value: number): void {
    this.ensure(8);
    const { bytes } = this;
    let { at } = this;
    let rest = value;
    while (rest >= 0x8000_0000) {
      bytes[at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      bytes[at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.at = at;
  }

  /** Whole numbers from -2^52 to 2^52. */
  svarint(value: number): void {
    this.uvarint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  put(source: Uint8Array, from = 0, to = source.length): void {
    this.ensure(to - from);
    this.bytes.set(
      from === 0 && to === source.length ? source : source.subarray(from, to),
      this.at,
    );
    this.at += to - from;
  }

  /** Returns the written bytes, valid until the next write. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.at);
  }

  /** Returns a copy of the written bytes. */
  copied(): Uint8Array {
    return this.bytes.slice(0, this.at);
  }
}

/** Reads what a `Scratch` wrote; never past the end. */
export class Cursor {
  readonly bytes: Uint8Array;
  /** View, created on demand: it would cost more than most reads. */
  #view: DataView | undefined;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.bytes = bytes;
    this.#view = undefined;
    this.at = from;
    this.end = to;
  }

  u8(): number {
    this.#must(1);
    return this.bytes[this.at++]!;
  }

  f64(): number {
    this.#must(8);
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  u32be(): number {
    this.#must(4);
    const { bytes, at } = this;
    this.at += 4;
    return (
      ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
    );
  }

  uvarint(): number {
    const { bytes, end } = this;
    let { at } = this;
    let value = 0;
    let factor = 1;
    for (;;) {
      if (at >= end || factor > 2 ** 56) {
        throw cutShort();
      }
      const byte = bytes[at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) {
        this.at = at;
        return value;
      }
      factor *= 128;
    }
  }

  svarint(): number {
    const value = this.uvarint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  take(length: number): Uint8Array {
    this.#must(length);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  #must(length: number): void {
    if (this.at + length > this.end) {
      throw cutShort();
    }
  }
}

export const cutShort = (): SvcError => errors.record_cut_short();
