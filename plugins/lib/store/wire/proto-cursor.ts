import { type SvcError } from 'svc/sdk';
import { asBuffer } from 'svc/query';

import { errors } from './errors.ts';

/** Encodings of a field; 3 and 4 are groups, which nothing here uses. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export const corrupt = (what: string): SvcError => errors.protobuf({ what });

/** A place in a message, and the steps from it; each is checked against the end. */
export class ProtoCursor {
  /** The wire type of the field that `next()` gave. */
  wire = 0;
  protected readonly buffer: Buffer;
  protected readonly view: DataView;
  protected at: number;
  protected readonly end: number;
  /** Low half of what `varint64()` read; both halves are unsigned. */
  protected low = 0;
  protected high = 0;

  constructor(bytes: Uint8Array, start: number, end: number, view: DataView) {
    this.buffer = asBuffer(bytes);
    this.view = view;
    this.at = start;
    this.end = end;
  }

  get position(): number {
    return this.at;
  }

  /** The number of the next field, or 0 at the end. */
  next(): number {
    if (this.at >= this.end) {
      return 0;
    }
    const tag = this.varint32();
    this.wire = tag & 7;
    const field = tag >>> 3;
    if (field === 0) {
      throw corrupt('a field has number 0');
    }
    return field;
  }

  skip(): void {
    switch (this.wire) {
      case wireTypes.varint:
        this.varint64();
        return;
      case wireTypes.fixed64:
        this.advance(8);
        return;
      case wireTypes.bytes:
        this.block();
        return;
      case wireTypes.fixed32:
        this.advance(4);
        return;
      default:
        throw corrupt(`wire type ${this.wire} is not known`);
    }
  }

  protected expect(wire: number): void {
    if (this.wire !== wire) {
      throw corrupt(`a field has wire type ${this.wire} where ${wire} was expected`);
    }
  }

  protected fixed(wire: number, size: number): number {
    this.expect(wire);
    return this.advance(size);
  }

  protected advance(size: number): number {
    const { at } = this;
    if (size > this.end - at) {
      throw corrupt('the data ends before it is complete');
    }
    this.at = at + size;
    return at;
  }

  /** Steps over a length and as many bytes; answers where they start. */
  protected block(): number {
    this.expect(wireTypes.bytes);
    const { at } = this;
    const byte = at < this.end ? this.buffer[at]! : 0x80;
    if (byte < 0x80) {
      this.at = at + 1;
      return this.advance(byte);
    }
    this.varint64();
    return this.advance(this.high * 0x1_0000_0000 + this.low);
  }

  protected varint32(): number {
    const byte = this.at < this.end ? this.buffer[this.at]! : 0x80;
    if (byte < 0x80) {
      this.at++;
      return byte;
    }
    this.varint64();
    return this.low;
  }

  protected varint64(): void {
    const { buffer, end } = this;
    let { at } = this;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) {
        throw corrupt('the data ends before it is complete');
      }
      const byte = buffer[at++]!;
      const bits = byte & 0x7f;
      if (shift < 28) {
        low |= bits << shift;
      } else if (shift === 28) {
        low |= bits << 28;
        high = bits >> 4;
      } else {
        high |= bits << (shift - 32);
      }
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        this.at = at;
        return;
      }
    }
    throw corrupt('a number has more than ten bytes');
  }
}
