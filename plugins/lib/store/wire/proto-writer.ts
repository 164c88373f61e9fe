import { ByteWriter } from '../bytes/bytes.ts';
import { wireTypes } from './protobuf.ts';

/** Writes one message; fields in the order of the calls. */
export class ProtoWriter {
  readonly #bytes: ByteWriter;
  #inner: ProtoWriter | undefined;

  constructor(capacity = 256) {
    this.#bytes = new ByteWriter(capacity);
  }

  /** A whole number from 0 to 2^53-1; use `int64` for signed or larger ones. */
  uint(field: number, value: number): this {
    this.#tag(field, wireTypes.varint);
    this.#bytes.uvarint(value);
    return this;
  }

  int64(field: number, value: number | bigint): this {
    this.#tag(field, wireTypes.varint);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) {
      this.#bytes.u8(Number(rest & 0x7fn) | 0x80);
    }
    this.#bytes.u8(Number(rest));
    return this;
  }

  sint64(field: number, value: number | bigint): this {
    const big = BigInt(value);
    return this.int64(field, (big << 1n) ^ (big >> 63n));
  }

  bool(field: number, value: boolean): this {
    return this.uint(field, value ? 1 : 0);
  }

  fixed32(field: number, value: number): this {
    this.#tag(field, wireTypes.fixed32);
    this.#bytes.u32le(value);
    return this;
  }

  fixed64(field: number, value: bigint): this {
    this.#tag(field, wireTypes.fixed64);
    this.#bytes.u64le(value);
    return this;
  }

  double(field: number, value: number): this {
    this.#tag(field, wireTypes.fixed64);
    this.#bytes.f64le(value);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, wireTypes.bytes);
    this.#bytes.block(value);
    return this;
  }

  string(field: number, value: string): this {
    this.#tag(field, wireTypes.bytes);
    this.#bytes.utf8(value);
    return this;
  }

  /** A message within this one; what writes it is the same for all of them, and is only to be used until `write` returns. */
  message(field: number, write: (message: ProtoWriter) => void): this {
    const inner = (this.#inner ??= new ProtoWriter());
    write(inner.reset());
    return this.bytes(field, inner.finish());
  }

  /** Fields that were written before, with their tags. */
  fields(written: Uint8Array): this {
    this.#bytes.bytes(written);
    return this;
  }

  packedDoubles(field: number, values: Iterable<number>): this {
    const inner = new ByteWriter();
    for (const value of values) {
      inner.f64le(value);
    }
    return this.bytes(field, inner.take());
  }

  packedVarints(field: number, values: Iterable<number>): this {
    const inner = new ByteWriter();
    for (const value of values) {
      inner.uvarint(value);
    }
    return this.bytes(field, inner.take());
  }

  packedFixed64(field: number, values: Iterable<bigint>): this {
    const inner = new ByteWriter();
    for (const value of values) {
      inner.u64le(value);
    }
    return this.bytes(field, inner.take());
  }

  /** Clears the output and keeps the memory. */
  reset(): this {
    this.#bytes.reset();
    return this;
  }

  /** Returns the output without a copy. */
  finish(): Uint8Array {
    return this.#bytes.take();
  }

  #tag(field: number, wire: number): void {
    this.#bytes.uvarint(field * 8 + wire);
  }
}
