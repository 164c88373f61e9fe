import { textOf } from 'svc/query';
import { corrupt, ProtoCursor, wireTypes } from './proto-cursor.ts';

export { wireTypes };

const deepest = 64;
const staleHigh = 0x7ff00000;
const staleLow = 2;

/**
 * Reads one message, field by field. `next()` gives the number of the next field, 0 at the end; then exactly one of
 * the reading methods or `skip()` is called. Whatever does not fit the wire type, or the end, throws invalid_argument.
 */
export class ProtoReader extends ProtoCursor {
  /** Milliseconds read by `nanos()`; below, the nanoseconds. */
  ms = 0;
  ns = 0;
  readonly #depth: number;

  constructor(
    bytes: Uint8Array,
    start = 0,
    end = bytes.length,
    depth = 0,
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  ) {
    super(bytes, start, end, view);
    this.#depth = depth;
  }

  /** A varint of up to 32 bits; of longer ones the low 32, as every decoder takes them. */
  uint32(): number {
    this.expect(wireTypes.varint);
    return this.varint32();
  }

  int32(): number {
    return this.uint32() | 0;
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  /** Zigzag. */
  sint32(): number {
    const value = this.uint32();
    return (value >>> 1) ^ -(value & 1);
  }

  /** Reads a number: exact up to 2^53, the nearest one beyond. */
  uint64(): number {
    this.expect(wireTypes.varint);
    this.varint64();
    return this.high * 0x1_0000_0000 + this.low;
  }

  int64(): number {
    this.expect(wireTypes.varint);
    this.varint64();
    return (this.high | 0) * 0x1_0000_0000 + this.low;
  }

  /** Reads a number if that is exact, else a bigint. */
  int64Exact(): number | bigint {
    const near = this.int64();
    return Number.isSafeInteger(near)
      ? near
      : BigInt.asIntN(64, (BigInt(this.high) << 32n) | BigInt(this.low));
  }

  /** Zigzag, as a number. */
  sint64(): number {
    const value = this.uint64Big();
    return Number((value >> 1n) ^ -(value & 1n));
  }

  uint64Big(): bigint {
    this.expect(wireTypes.varint);
    this.varint64();
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  int64Big(): bigint {
    return BigInt.asIntN(64, this.uint64Big());
  }

  fixed32(): number {
    return this.view.getUint32(this.fixed(wireTypes.fixed32, 4), true);
  }

  float(): number {
    return this.view.getFloat32(this.fixed(wireTypes.fixed32, 4), true);
  }

  /** Reads a number: exact up to 2^53, the nearest one beyond. */
  fixed64(): number {
    const at = this.fixed(wireTypes.fixed64, 8);
    return this.view.getUint32(at + 4, true) * 0x1_0000_0000 + this.view.getUint32(at, true);
  }

  sfixed64(): number {
    const at = this.fixed(wireTypes.fixed64, 8);
    return this.view.getInt32(at + 4, true) * 0x1_0000_0000 + this.view.getUint32(at, true);
  }

  fixed64Big(): bigint {
    return this.view.getBigUint64(this.fixed(wireTypes.fixed64, 8), true);
  }

  double(): number {
    return this.view.getFloat64(this.fixed(wireTypes.fixed64, 8), true);
  }

  /**
   * Returns whether the next double is the marker of an ended series. Does not consume it: as a
   * number it is any NaN.
   */
  staleNext(): boolean {
    const at = this.at;
    return (
      this.wire === wireTypes.fixed64 &&
      this.end - at >= 8 &&
      this.view.getUint32(at + 4, true) === staleHigh &&
      this.view.getUint32(at, true) === staleLow
    );
  }

  /** A fixed64 of nanoseconds, into `ms` and `ns` (0 to 999999), without a loss and without a bigint. */
  nanos(): void {
    const at = this.fixed(wireTypes.fixed64, 8);
    this.#splitNanos(this.view.getUint32(at + 4, true), this.view.getUint32(at, true));
  }

  /** The same of a varint, such as a Timestamp in nanoseconds. */
  varintNanos(): void {
    this.expect(wireTypes.varint);
    this.varint64();
    this.#splitNanos(this.high, this.low);
  }

  /** A view into the message, not a copy. */
  bytes(): Buffer {
    const start = this.block();
    return this.buffer.subarray(start, this.at);
  }

  string(): string {
    const start = this.block();
    return textOf(this.buffer, start, this.at);
  }

  /** A reader of a message within this one. */
  message(): ProtoReader {
    const start = this.block();
    if (this.#depth >= deepest) {
      throw corrupt(`messages are nested more than ${deepest} deep`);
    }
    return new ProtoReader(this.buffer, start, this.at, this.#depth + 1, this.view);
  }

  /** Calls `each` per number of a repeated field, packed or not; to be called in place of a reading method. */
  packedDoubles(each: (value: number) => void): void {
    if (this.wire !== wireTypes.bytes) {
      each(this.double());
      return;
    }
    const start = this.block();
    if ((this.at - start) % 8 !== 0) {
      throw corrupt('a packed field ends within a number');
    }
    for (let at = start; at < this.at; at += 8) {
      each(this.view.getFloat64(at, true));
    }
  }

  packedFixed64(each: (value: number) => void): void {
    if (this.wire !== wireTypes.bytes) {
      each(this.fixed64());
      return;
    }
    const start = this.block();
    if ((this.at - start) % 8 !== 0) {
      throw corrupt('a packed field ends within a number');
    }
    for (let at = start; at < this.at; at += 8) {
      each(this.view.getUint32(at + 4, true) * 0x1_0000_0000 + this.view.getUint32(at, true));
    }
  }

  packedVarints(each: (value: number) => void): void {
    if (this.wire !== wireTypes.bytes) {
      each(this.uint64());
      return;
    }
    const start = this.block();
    const end = this.at;
    this.at = start;
    while (this.at < end) {
      this.varint64();
      each(this.high * 0x1_0000_0000 + this.low);
    }
    if (this.at !== end) {
      throw corrupt('a packed field ends within a number');
    }
  }

  packedSint64(each: (value: number) => void): void {
    this.packedVarints((value) => each(value % 2 === 0 ? value / 2 : -(value + 1) / 2));
  }

  #splitNanos(high: number, low: number): void {
    const whole = Math.floor(high / 1e6);
    const rest = (high - whole * 1e6) * 0x1_0000_0000 + low;
    const ms = Math.floor(rest / 1e6);
    this.ms = whole * 0x1_0000_0000 + ms;
    this.ns = rest - ms * 1e6;
  }
}
