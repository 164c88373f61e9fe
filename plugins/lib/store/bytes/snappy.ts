import { snappyBlock } from 'svc/probe';
import { type SvcError } from 'svc/sdk';
import { errors } from './errors.ts';
import { type InflateLimit, tooLarge } from './inflate.ts';

/** Memory reused for the next body; it grows as needed. */
export interface ReusableBuffer {
  bytes: Uint8Array;
}

export const reusableBuffer = (capacity = 64 * 1024): ReusableBuffer => ({
  bytes: new Uint8Array(capacity),
});

const corrupt = (): SvcError => errors.snappy();

/** The block format. The answer is a view into `into`, valid until that is used again; of its own without one. */
export function snappyDecode(
  input: Uint8Array,
  { maxBytes }: InflateLimit,
  into: ReusableBuffer = { bytes: new Uint8Array(0) },
): Uint8Array {
  const { length, start } = preamble(input);
  if (length > maxBytes) {
    throw tooLarge(maxBytes);
  }
  // No element of three bytes can make more than 64: a short input with a long preamble costs no memory.
  if (length > input.length * 22 + 64) {
    throw corrupt();
  }
  if (into.bytes.length < length + slack) {
    into.bytes = new Uint8Array(Math.max(length + slack, into.bytes.length * 2));
  }
  inflateInto(into.bytes, length, input, start);
  return into.bytes.subarray(0, length);
}

/** Returns the unpacked length, up to 2^32-1, from a varint. */
function preamble(input: Uint8Array): { length: number; start: number } {
  let length = 0;
  for (let i = 0; i < 5 && i < input.length; i++) {
    const byte = input[i]!;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) {
      if (length > 0xffffffff) {
        throw corrupt();
      }
      return { length, start: i + 1 };
    }
  }
  throw corrupt();
}

/** Bytes that may be written past the end. */
const slack = 4;

/** Reads past the end of the input as `undefined`, which every check below refuses. */
function inflateInto(output: Uint8Array, length: number, input: Uint8Array, start: number): void {
  const words = new DataView(output.buffer, output.byteOffset, output.length);
  const end = input.length;
  let from = start;
  let to = 0;
  while (from < end) {
    const tag = input[from++]!;
    let size: number;
    let offset: number;
    if ((tag & 3) === 0) {
      size = (tag >> 2) + 1;
      if (size > 60) {
        const width = size - 60;
        if (from + width > end) {
          throw corrupt();
        }
        size = littleEndian(input, from, width) + 1;
        from += width;
      }
      if (size > end - from || size > length - to) {
        throw corrupt();
      }
      copyLiteral(output, to, input, from, size);
      from += size;
      to += size;
      continue;
    }
    if ((tag & 3) === 1) {
      if (from >= end) {
        throw corrupt();
      }
      size = ((tag >> 2) & 7) + 4;
      offset = ((tag >> 5) << 8) | input[from++]!;
    } else {
      const width = (tag & 3) === 2 ? 2 : 4;
      if (from + width > end) {
        throw corrupt();
      }
      size = (tag >> 2) + 1;
      offset = littleEndian(input, from, width);
      from += width;
    }
    if (offset === 0 || offset > to || size > length - to) {
      throw corrupt();
    }
    const stop = to + size;
    if (offset >= 4) {
      // A word at a time, up to three bytes too many, which the next element or nobody reads.
      for (let at = to; at < stop; at += 4) {
        words.setInt32(at, words.getInt32(at - offset, true), true);
      }
      to = stop;
    } else {
      // The source overlaps with what is being written.
      for (; to < stop; to++) {
        output[to] = output[to - offset]!;
      }
    }
  }
  if (to !== length) {
    throw corrupt();
  }
}

function copyLiteral(
  output: Uint8Array,
  to: number,
  input: Uint8Array,
  from: number,
  size: number,
): void {
  if (size > 32) {
    output.set(input.subarray(from, from + size), to);
    return;
  }
  for (let i = 0; i < size; i++) {
    output[to + i] = input[from + i]!;
  }
}

function littleEndian(input: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let i = width - 1; i >= 0; i--) {
    value = value * 256 + input[at + i]!;
  }
  return value;
}

/** Compresses one body; to compress many, keep the function that `snappyBlock` returns. */
export const snappyEncode = (input: Uint8Array): Uint8Array => snappyBlock()(input);
