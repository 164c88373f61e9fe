import { crc32 } from './crc32.ts';

/** One bit of a file that is not as it was written. */
export interface FlippedBit {
  readonly at: number;
  readonly mask: number;
}

/**
 * Finds the one bit whose flip explains a checksum that does not fit; undefined if no single bit
 * does. CRC-32 is linear: the difference of two sums depends on the flipped bit alone.
 */
export function flippedBit(bytes: Uint8Array, sum: number): FlippedBit | undefined {
  const wanted = (crc32(bytes) ^ sum) >>> 0;
  const differences = Array.from({ length: 8 }, (_, bit) => differenceOf(1 << bit));
  for (let at = bytes.length - 1; at >= 0; at--) {
    for (let bit = 0; bit < 8; bit++) {
      const difference = differences[bit]!;
      if (difference === wanted) {
        return { at, mask: 1 << bit };
      }
      differences[bit] = ((difference >>> 8) ^ differenceOf(difference & 0xff)) >>> 0;
    }
  }
  return undefined;
}

/** Returns whether two numbers of 32 bits differ in exactly one, and in which. */
export function singleBit(a: number, b: number): number | undefined {
  const difference = (a ^ b) >>> 0;
  return difference !== 0 && (difference & (difference - 1)) === 0 ? difference : undefined;
}

/** How the checksum changes with a byte that has these bits flipped, and is the last one. */
const differenceOfByte = Uint32Array.from(
  { length: 256 },
  (_, value) => crc32(Uint8Array.of(value)) ^ crc32(Uint8Array.of(0)),
);

const differenceOf = (byte: number): number => differenceOfByte[byte]!;
