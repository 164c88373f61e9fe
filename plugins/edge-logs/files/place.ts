import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/**
 * Beginning of a file, by which it is recognized: device and inode numbers are reused when a file
 * is deleted.
 */
export interface Head {
  readonly size: number;
  readonly sha256: string;
}

/** One file and how far it has been read. */
export interface Place {
  /** Path where it was found, which labels its lines whatever it is called now. */
  readonly path: string;
  /** Path that a glob matched: the same, or a link that leads there. */
  readonly found: string;
  /** Device and inode. */
  readonly id: string;
  readonly head: Head;
  /**
   * Times of creation and last write at the last look; milliseconds, 0 if the file system does not
   * tell.
   */
  readonly birth: number;
  readonly mtime: number;
  readonly offset: number;
  /** Bytes before the offset, in base64: a file that was truncated and refilled differs there. */
  readonly before: string;
  /** Number of parts of the line at the offset that are shipped. */
  readonly part: number;
  /** Size at the last look; absent in the checkpoints of earlier versions. */
  readonly size?: number;
  /** `left`: another file has its path, the rest is still to be read. `parked`: read to its end. `skipped`: not to be read. */
  readonly state: 'live' | 'left' | 'parked' | 'skipped';
}

/** Bytes that were there at the last look and were not read. */
export const unreadOf = ({ offset, size = offset }: Place): number => Math.max(0, size - offset);

export const headBytes = 1_024;
export const beforeBytes = 64;

export const idOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;
export const birthOf = ({ birthtimeNs }: BigIntStats): number => Number(birthtimeNs) / 1e6;
/** Time of the last change of the file or of its name. */
export const ctimeOf = ({ ctimeNs }: BigIntStats): number => Number(ctimeNs) / 1e6;
export const mtimeOf = ({ mtimeNs }: BigIntStats): number => Number(mtimeNs) / 1e6;

export async function readHead(file: FileHandle, size: number): Promise<Head> {
  const bytes = await readAt(file, 0, Math.min(size, headBytes));
  return { size: bytes.length, sha256: digest(bytes) };
}

/**
 * Returns whether the file still begins as it did, and still has before the offset what was read
 * there.
 */
export async function continues(
  file: FileHandle,
  size: number,
  { head, offset, before }: Pick<Place, 'head' | 'offset' | 'before'>,
): Promise<boolean> {
  const known = Buffer.from(before, 'base64');
  if (
    size < head.size ||
    size < offset ||
    (await readHead(file, head.size)).sha256 !== head.sha256
  ) {
    return false;
  }
  return known.equals(await readAt(file, offset - known.length, known.length));
}

export const beginsWith = (bytes: Uint8Array, { size, sha256 }: Head): boolean =>
  digest(bytes.subarray(0, size)) === sha256;

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Reads the available bytes, up to `length`. */
export async function readAt(
  file: FileHandle,
  position: number,
  length: number,
  into: Buffer = Buffer.allocUnsafe(length),
): Promise<Buffer> {
  let have = 0;
  while (have < length) {
    const { bytesRead } = await file.read(into, have, length - have, position + have);
    if (bytesRead === 0) {
      break;
    }
    have += bytesRead;
  }
  return into.subarray(0, have);
}
