import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

import { isSame, sumOf } from './log-sum.ts';

/** State of a log according to the index next to it. */
export interface LogIndex {
  /** Frames of all commits so far; a frame counts once it is synced. */
  readonly frames: number;
  /** Which use of the log it is about. */
  readonly salts: string;
}

const headerBytes = 48;
const isLittle = endianness() === 'LE';

/** Reads the head of a `-shm` file: written twice, with a checksum; undefined if it is not whole. */
export function readLogIndex(file: string): LogIndex | undefined {
  const bytes = read(file);
  const [one, other] = [bytes.subarray(0, headerBytes), bytes.subarray(headerBytes)];
  if (bytes.length < 2 * headerBytes || !one.equals(other)) {
    return undefined;
  }
  const word = (at: number): number => (isLittle ? one.readUInt32LE(at) : one.readUInt32BE(at));
  const sum = sumOf(one.subarray(0, 40), [0, 0], isLittle);
  return isSame(sum, [word(40), word(44)])
    ? { frames: word(16), salts: one.toString('hex', 32, 40) }
    : undefined;
}

function read(file: string): Buffer {
  let descriptor;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return Buffer.alloc(0);
    }
    throw error;
  }
  try {
    const bytes = Buffer.alloc(2 * headerBytes);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(descriptor);
  }
}
