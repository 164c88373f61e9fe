import { fstatSync, readSync } from 'node:fs';

import { ByteReader, ByteWriter } from '../bytes/bytes.ts';
import { crc32 } from '../bytes/crc32.ts';
import { type FlippedBit, flippedBit, singleBit } from '../bytes/flipped-bit.ts';

/**
 * A block is written once: magic, sections one behind the other, the index of the sections, and a trailer of 16 bytes
 * (length and checksum of the index, magic). One section describes the block, so that no catalogue is needed to know it.
 */
export const magic = Buffer.from('svcblk1\n');
const trailerBytes = 16;

export interface Section {
  readonly offset: number;
  readonly stored: number;
  readonly raw: number;
  readonly codec: number;
  readonly sum: number;
}

/** Index of a block: where its sections are, and which of them describes the block. */
export interface BlockIndex {
  readonly sections: readonly Section[];
  /** Undefined in blocks of earlier versions. */
  readonly description: number | undefined;
  /** Bit of the index, or around it, that is read as it was written. */
  readonly flipped?: FlippedBit | undefined;
}

/** Encodes the index with its trailer: length and checksum of the index, magic. */
export function encodeIndex({ sections, description }: BlockIndex): Uint8Array {
  const writer = new ByteWriter(sections.length * 16 + 16);
  writer.uvarint(sections.length);
  for (const { codec, raw, stored, sum } of sections) {
    writer.u8(codec);
    writer.uvarint(raw);
    writer.uvarint(stored);
    writer.u32le(sum);
  }
  // Behind the sections, where earlier versions do not look.
  if (description !== undefined) {
    writer.uvarint(description);
  }
  const index = writer.take();
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(index.length, 0);
  trailer.writeUInt32LE(crc32(index), 4);
  magic.copy(trailer, 8);
  return Buffer.concat([index, trailer]);
}

/** Reads the index of an open file. Returns why it cannot be read; one flipped bit costs nothing. */
export function readIndex(descriptor: number): BlockIndex | string {
  const { size } = fstatSync(descriptor);
  const trailer = Buffer.alloc(trailerBytes);
  const start = Buffer.alloc(magic.length);
  if (
    size < magic.length + trailerBytes ||
    !readAll(descriptor, start, 0) ||
    !readAll(descriptor, trailer, size - trailerBytes)
  ) {
    return `it has only ${size} bytes`;
  }
  const flips = [flipIn(start, 0), flipIn(trailer.subarray(8), size - magic.length)];
  const [length, sum] = [trailer.readUInt32LE(0), trailer.readUInt32LE(4)];
  if (flips.includes('many')) {
    return 'it does not begin and end like a block';
  }
  const outside = flips.find((flip) => typeof flip === 'object');
  const read = (bytes: number): Buffer | undefined => {
    const index = Buffer.alloc(Math.max(0, bytes));
    return bytes > 0 &&
      bytes <= size - magic.length - trailerBytes &&
      readAll(descriptor, index, size - trailerBytes - bytes)
      ? index
      : undefined;
  };
  const index = read(length);
  if (index !== undefined && crc32(index) === sum) {
    const found = decodeIndex(index, size);
    return found === undefined
      ? 'its sections have not the size that the index tells'
      : { ...found, flipped: outside };
  }
  const mended = outside === undefined ? oneBitAway({ read, length, sum, size }) : undefined;
  return mended ?? 'its index does not hold what was written';
}

interface Doubted {
  readonly read: (bytes: number) => Buffer | undefined;
  readonly length: number;
  readonly sum: number;
  readonly size: number;
}

/** The index as it was before one bit of it, of its checksum or of its length was flipped. */
function oneBitAway({ read, length, sum, size }: Doubted): BlockIndex | undefined {
  const place = size - trailerBytes;
  const index = read(length);
  if (index !== undefined) {
    const inSum = singleBit(crc32(index), sum);
    if (inSum !== undefined) {
      const found = decodeIndex(index, size);
      return found && { ...found, flipped: bitOfNumber(place + 4, inSum) };
    }
    const flip = flippedBit(index, sum);
    if (flip !== undefined) {
      index[flip.at]! ^= flip.mask;
      const found = decodeIndex(index, size);
      if (found !== undefined) {
        return { ...found, flipped: { at: place - length + flip.at, mask: flip.mask } };
      }
    }
  }
  for (let bit = 0; bit < 32; bit++) {
    const mask = (1 << bit) >>> 0;
    const other = read((length ^ mask) >>> 0);
    if (other !== undefined && crc32(other) === sum) {
      const found = decodeIndex(other, size);
      return found && { ...found, flipped: bitOfNumber(place, mask) };
    }
  }
  return undefined;
}

const bitOfNumber = (at: number, mask: number): FlippedBit => {
  const byte = Math.floor(Math.log2(mask) / 8);
  return { at: at + byte, mask: (mask >>> (byte * 8)) & 0xff };
};

function flipIn(found: Buffer, at: number): FlippedBit | 'many' | undefined {
  const wrong = [...found.keys()].filter((i) => found[i] !== magic[i]);
  const [i] = wrong;
  if (i === undefined) {
    return undefined;
  }
  const mask = singleBit(found[i]!, magic[i]!);
  return wrong.length > 1 || mask === undefined ? 'many' : { at: at + i, mask };
}

/** Undefined unless the sections fill the file exactly. */
function decodeIndex(index: Uint8Array, size: number): BlockIndex | undefined {
  const reader = new ByteReader(index);
  const sections: Section[] = [];
  let offset = magic.length;
  try {
    for (let count = reader.uvarint(); count > 0; count--) {
      const codec = reader.u8();
      const raw = reader.uvarint();
      const stored = reader.uvarint();
      sections.push({ offset, stored, raw, codec, sum: reader.u32le() });
      offset += stored;
    }
    const description = reader.position < index.length ? reader.uvarint() : undefined;
    return offset === size - trailerBytes - index.length ? { sections, description } : undefined;
  } catch {
    // A number or a section that is cut short: this is no index.
    return undefined;
  }
}

/** Reads bytes; returns whether the file has that many there. */
export function readAll(descriptor: number, into: Uint8Array, position: number): boolean {
  for (let filled = 0; filled < into.length;) {
    const count = readSync(descriptor, into, filled, into.length - filled, position + filled);
    if (count === 0) {
      return false;
    }
    filled += count;
  }
  return true;
}
