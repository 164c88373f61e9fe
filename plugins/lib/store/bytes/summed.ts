import { flippedBit, singleBit } from './flipped-bit.ts';
import { crc32 } from './crc32.ts';

const lineBytes = 9;

/** Puts a line with their checksum before some bytes. */
export const summed = (bytes: Uint8Array): Buffer => Buffer.concat([lineOf(crc32(bytes)), bytes]);

/**
 * Returns the bytes behind the line of their checksum, with a flipped bit put back. Undefined if
 * more than one bit is not as it was written.
 */
export function unsummed(text: Uint8Array): Buffer | undefined {
  const [line, bytes] = [text.subarray(0, lineBytes), Buffer.from(text.subarray(lineBytes))];
  if (differingBits(line, lineOf(crc32(bytes))) <= 1) {
    return bytes;
  }
  const sum = Number.parseInt(Buffer.from(line).toString('latin1'), 16);
  const flipped = lineOf(sum).equals(line) ? flippedBit(bytes, sum) : undefined;
  if (flipped === undefined) {
    return undefined;
  }
  bytes[flipped.at]! ^= flipped.mask;
  return bytes;
}

const lineOf = (sum: number): Buffer => Buffer.from(`${sum.toString(16).padStart(8, '0')}\n`);

function differingBits(a: Uint8Array, b: Uint8Array): number {
  return a.length === b.length
    ? a.reduce((count, byte, at) => count + (byte === b[at] ? 0 : bitsApart(byte, b[at]!)), 0)
    : Infinity;
}

/** One, or many: more is not asked. */
const bitsApart = (a: number, b: number): number => (singleBit(a, b) === undefined ? Infinity : 1);
