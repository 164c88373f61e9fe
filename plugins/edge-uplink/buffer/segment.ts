import { type FileHandle, open } from 'node:fs/promises';

import { crc32c } from './crc32c.ts';
import {
  type BufferRecord,
  prefixBytes,
  readPrefix,
  readRecord,
  type RecordHead,
} from './record.ts';

export interface Segment {
  readonly seq: number;
  readonly file: string;
  /** Bytes of whole records. */
  size: number;
  /** Number of items, if it is known without reading the segment. */
  items: number | undefined;
  firstAt: number | undefined;
}

export interface ReadAt {
  readonly record: BufferRecord;
  /** Position of the next record. */
  readonly next: number;
}

/** Reads the record at `offset`; undefined at the end, 'damaged' if it is invalid. */
export async function recordAt(
  handle: FileHandle,
  offset: number,
  size: number,
): Promise<ReadAt | 'damaged' | undefined> {
  if (offset >= size) {
    return undefined;
  }
  const prefix = readPrefix(await readExactly(handle, offset, prefixBytes));
  if (!prefix || offset + prefixBytes + prefix.payload > size) {
    return 'damaged';
  }
  const record = readRecord(
    await readExactly(handle, offset, prefixBytes + prefix.payload),
    prefix,
  );
  return record ? { record, next: offset + prefixBytes + prefix.payload } : 'damaged';
}

/** Bytes of a segment that are no record, though they were once written as one. */
export interface Damage {
  readonly at: number;
  readonly end: number;
  /** When the whole records before and after it were left here, in milliseconds since the epoch. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export interface Scanned {
  /** Where the last whole record ends; what follows is the record that a kill has torn, or damage. */
  readonly size: number;
  readonly items: number;
  readonly firstAt: number | undefined;
  readonly damage: readonly Damage[];
}

/** Scans a segment: passes over damage to the next whole record. */
export async function scan(file: string): Promise<Scanned> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const damage: Damage[] = [];
    let at = 0;
    let items = 0;
    let firstAt: number | undefined;
    let before: number | undefined;
    for (;;) {
      const found = await recordAt(handle, at, size);
      if (found === undefined) {
        return { size: at, items, firstAt, damage };
      }
      if (found !== 'damaged') {
        items += found.record.head.items;
        before = found.record.head.at;
        firstAt ??= before;
        at = found.next;
        continue;
      }
      const next = await recordAfter(handle, at, size);
      if (next === undefined) {
        const isTorn = isTornTail(await readExactly(handle, at, size - at));
        const tail = { at, end: size, from: before, to: undefined };
        return { size: at, items, firstAt, damage: isTorn ? damage : [...damage, tail] };
      }
      damage.push({ at, end: next.at, from: before, to: next.record.head.at });
      at = next.at;
    }
  } finally {
    await handle.close();
  }
}

/** Every record begins so, after its prefix. */
const headBegins = Buffer.from('{"to":');

/** Finds the next whole record behind a damaged one at `offset`. */
async function recordAfter(
  handle: FileHandle,
  offset: number,
  size: number,
): Promise<{ readonly at: number; readonly record: BufferRecord } | undefined> {
  const prefix = readPrefix(await readExactly(handle, offset, prefixBytes));
  const ends = offset + prefixBytes + (prefix?.payload ?? 0);
  const following = prefix ? await recordAt(handle, ends, size) : undefined;
  if (following !== undefined && following !== 'damaged') {
    return { at: ends, record: following.record };
  }
  // The length itself is damaged: only the form of a record shows where the next one begins.
  const rest = await readExactly(handle, offset, size - offset);
  let head = rest.indexOf(headBegins, prefixBytes + 1);
  while (head !== -1) {
    const at = offset + head - prefixBytes;
    const found = at > offset ? await recordAt(handle, at, size) : undefined;
    if (found !== undefined && found !== 'damaged') {
      return { at, record: found.record };
    }
    head = rest.indexOf(headBegins, head + 1);
  }
  return undefined;
}

/**
 * Tells a write that a kill or a power cut has ended, which nobody was told to be durable, from a
 * whole record that was damaged later.
 */
function isTornTail(tail: Buffer): boolean {
  if (tail.length < prefixBytes || tail.every((byte) => byte === 0)) {
    return true;
  }
  const prefix = readPrefix(tail);
  const isWhole = crc32c(tail.subarray(8)) === tail.readUInt32LE(4);
  return prefix !== undefined && prefixBytes + prefix.payload > tail.length && !isWhole;
}

/**
 * Returns how many items follow `from`, reading the heads alone; used to report what was dropped.
 */
export async function countItems(file: string, from: number, size: number): Promise<number> {
  const handle = await open(file, 'r');
  try {
    let items = 0;
    for (let at = from; at < size;) {
      const prefix = readPrefix(await readExactly(handle, at, prefixBytes));
      if (!prefix) {
        break;
      }
      const head = await readExactly(handle, at + prefixBytes, prefix.head);
      items += itemsOf(head);
      at += prefixBytes + prefix.payload;
    }
    return items;
  } finally {
    await handle.close();
  }
}

function itemsOf(head: Buffer): number {
  try {
    return (JSON.parse(head.toString('utf8')) as RecordHead).items;
  } catch {
    // Damaged: it is unknown what is lost with it.
    return 0;
  }
}

async function readExactly(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(bytes, 0, length, offset);
  return bytes.subarray(0, bytesRead);
}
