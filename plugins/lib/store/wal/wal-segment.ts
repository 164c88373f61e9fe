import { type FileHandle, open, readdir } from 'node:fs/promises';

import { crc32 } from '../bytes/crc32.ts';

/**
 * A segment is a header of 16 bytes (magic, number, checksum of both) and frames. A frame is a length, a checksum of
 * length and content, and the content. A segment that ended in order ends with a seal, a frame of its own kind.
 */
export const headerBytes = 16;
export const frameBytes = 8;
export const largestRecord = 256 * 1024 * 1024;

const magic = Buffer.from('svcwal1\n');
const sealMark = 0xffffffff;

const digitsOf = (segment: number): string => String(segment).padStart(10, '0');

export const segmentName = (segment: number): string => `${digitsOf(segment)}.wal`;

/** Name of a segment that is dropped and not removed yet. */
export const droppedName = (segment: number): string => `${digitsOf(segment)}.dropped`;

/** The numbers of the segments in a folder, and of those that were being dropped, oldest first. */
export async function segmentsIn(
  folder: string,
): Promise<{ readonly kept: readonly number[]; readonly dropped: readonly number[] }> {
  const names = (await readdir(folder)).sort();
  const numbers = (pattern: RegExp): number[] =>
    names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number);
  return { kept: numbers(/^(\d{10})\.wal$/), dropped: numbers(/^(\d{10})\.dropped$/) };
}

export function segmentHeader(segment: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  magic.copy(header);
  header.writeUInt32LE(segment, 8);
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12);
  return header;
}

/** Records as they are written. */
export interface Framed {
  /** The parts of all records with a frame before each; none of them is copied. */
  readonly written: readonly Uint8Array[];
  /** The frames alone, one behind the other. */
  readonly frames: Uint8Array;
  readonly records: number;
}

export function framed(
  records: readonly { readonly parts: readonly Uint8Array[]; readonly length: number }[],
): Framed {
  const frames = Buffer.allocUnsafe(records.length * frameBytes);
  const written: Uint8Array[] = [];
  records.forEach(({ parts, length }, index) => {
    const frame = frames.subarray(index * frameBytes, (index + 1) * frameBytes);
    frame.writeUInt32LE(length, 0);
    let sum = crc32(frame.subarray(0, 4));
    for (const part of parts) {
      sum = crc32(part, sum);
    }
    frame.writeUInt32LE(sum, 4);
    written.push(frame, ...parts);
  });
  return { written, frames, records: records.length };
}

/** Content of a segment, by which it shows from outside the segment whether anything is missing. */
export interface SegmentContent {
  /** Size of the file, seal included. */
  readonly bytes: number;
  readonly records: number;
  /** Checksum of the frames of all records, each of which has the checksum of its record. */
  readonly sum: number;
}

export function seal(): Buffer {
  const frame = Buffer.alloc(frameBytes);
  frame.writeUInt32LE(sealMark, 0);
  frame.writeUInt32LE(crc32(frame.subarray(0, 4)), 4);
  return frame;
}

/** A stretch of a segment that held records once and does not any more. */
export interface Gap {
  readonly at: number;
  readonly bytes: number;
}

export interface SegmentEnd {
  /** End of the last whole record. */
  readonly goodBytes: number;
  readonly fileBytes: number;
  readonly records: number;
  readonly sum: number;
  readonly gaps: readonly Gap[];
  /** End of the segment: in order, without its seal, or in the middle of the last write. */
  readonly how: 'sealed' | 'open' | 'torn';
}

/** Passes every whole record before `until` to `each`, in order; skips damaged ones. */
export async function readSegment(
  path: string,
  segment: number,
  each: (record: Buffer) => void | Promise<void>,
  until = Infinity,
): Promise<SegmentEnd> {
  const handle = await open(path, 'r');
  try {
    const size = Math.min((await handle.stat()).size, until);
    const window = new Window(handle, size);
    const gaps: Gap[] = [];
    const header = await window.peek(headerBytes);
    // The header is on disk when the first record is: without any record it was just being written.
    if (header === undefined || !header.equals(segmentHeader(segment))) {
      if (!(await isWholeBehind(window, headerBytes))) {
        return { goodBytes: 0, fileBytes: size, records: 0, sum: 0, gaps, how: 'torn' };
      }
      gaps.push({ at: 0, bytes: headerBytes });
    }
    let records = 0;
    let sum = 0;
    for (window.position = headerBytes; ;) {
      const at = window.position;
      const record = await nextRecord(window);
      if (record === 'bad') {
        const next = await nextWhole(window, at);
        if (next === undefined) {
          return { goodBytes: at, fileBytes: size, records, sum, gaps, how: 'torn' };
        }
        gaps.push({ at, bytes: next - at });
        window.position = next;
      } else if (typeof record === 'object') {
        records++;
        sum = crc32(record.frame, sum);
        const verdict = each(record.content);
        if (verdict !== undefined) {
          await verdict;
        }
      } else {
        return { goodBytes: at, fileBytes: size, records, sum, gaps, how: record };
      }
    }
  } finally {
    await handle.close();
  }
}

interface WholeRecord {
  readonly frame: Buffer;
  readonly content: Buffer;
}

/** Steps over a whole record only. */
async function nextRecord(window: Window): Promise<WholeRecord | 'sealed' | 'open' | 'bad'> {
  if (window.position === window.size) {
    return 'open';
  }
  const frame = await window.peek(frameBytes);
  if (frame === undefined) {
    return 'bad';
  }
  const length = frame.readUInt32LE(0);
  const sum = frame.readUInt32LE(4);
  if (
    length === sealMark &&
    window.position + frameBytes === window.size &&
    sum === crc32(frame.subarray(0, 4))
  ) {
    return 'sealed';
  }
  if (length === 0 || length > largestRecord) {
    return 'bad';
  }
  const whole = await window.peek(frameBytes + length);
  if (
    whole === undefined ||
    crc32(whole.subarray(frameBytes), crc32(whole.subarray(0, 4))) !== sum
  ) {
    return 'bad';
  }
  window.step(frameBytes + length);
  return { frame: whole.subarray(0, frameBytes), content: whole.subarray(frameBytes) };
}

async function isWholeBehind(window: Window, at: number): Promise<boolean> {
  window.position = at;
  const found = window.size > at ? await nextRecord(window) : 'bad';
  return typeof found === 'object' || found === 'sealed';
}

/**
 * Returns where the next whole record begins after a bad one. What a crash truncated has nothing
 * whole after it, since later records were not written yet: then it is undefined, and the rest was
 * never acknowledged.
 */
async function nextWhole(window: Window, from: number): Promise<number | undefined> {
  // If only the content is bad, its length still shows where the next record is.
  window.position = from;
  const length = (await window.peek(frameBytes))?.readUInt32LE(0) ?? 0;
  const end = from + frameBytes + length;
  if (length > 0 && end < window.size && (await isWholeBehind(window, end))) {
    return end;
  }
  if (length > 0 && end === window.size && (await lastByte(window)) !== 0) {
    // All of it was written: a write that was cut short leaves it shorter, or zeros behind.
    return end;
  }
  return (
    (await recordBehind(window, from)) ??
    ((await endsWithSeal(window)) ? window.size - frameBytes : undefined)
  );
}

async function lastByte(window: Window): Promise<number> {
  window.position = window.size - 1;
  return (await window.peek(1))?.[0] ?? 0;
}

async function endsWithSeal(window: Window): Promise<boolean> {
  window.position = Math.max(headerBytes, window.size - frameBytes);
  return (await nextRecord(window)) === 'sealed';
}

const largestFound = 1024 * 1024;
const searchWork = 1024 * 1024 * 1024;

/**
 * Searches for the next record at any position, as needed if the length itself is bad. The search
 * is bounded.
 */
async function recordBehind(window: Window, from: number): Promise<number | undefined> {
  const last = window.size - frameBytes;
  let work = 0;
  for (let at = from + 1; at < last && work < searchWork; at++) {
    window.position = at;
    const length = (await window.peek(4))?.readUInt32LE(0) ?? 0;
    if (length > 0 && length <= largestFound && at + frameBytes + length <= window.size) {
      work += length;
      if (typeof (await nextRecord(window)) === 'object') {
        return at;
      }
    }
  }
  return undefined;
}

const chunkBytes = 4 * 1024 * 1024;

/**
 * Part of the file in memory. Each part has its own memory: what was handed out stays unchanged.
 */
class Window {
  position = 0;
  readonly size: number;
  readonly #handle: FileHandle;
  #chunk: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  step(bytes: number): void {
    this.position += bytes;
  }

  /** The next bytes, or undefined when the file has not as many. */
  async peek(length: number): Promise<Buffer | undefined> {
    if (this.position + length > this.size) {
      return undefined;
    }
    let at = this.position - this.#start;
    if (at < 0 || at + length > this.#chunk.length) {
      await this.#load(Math.min(Math.max(length, chunkBytes), this.size - this.position));
      at = 0;
    }
    return at + length > this.#chunk.length ? undefined : this.#chunk.subarray(at, at + length);
  }

  async #load(wanted: number): Promise<void> {
    const chunk = Buffer.allocUnsafeSlow(wanted);
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await this.#handle.read(
        chunk,
        filled,
        wanted - filled,
        this.position + filled,
      );
      if (bytesRead === 0) {
        break;
      }
      filled += bytesRead;
    }
    this.#chunk = chunk.subarray(0, filled);
    this.#start = this.position;
  }
}
