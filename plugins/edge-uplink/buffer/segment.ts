import { type FileHandle, open } from 'node:fs/promises';

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

/**
 * Scans a segment, ignoring a partial record that a kill left at the end: returns where the last
 * whole one ends, and what there is up to there.
 */
export async function scan(
  file: string,
  from = 0,
): Promise<{ size: number; items: number; firstAt: number | undefined }> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    let at = from;
    let items = 0;
    let firstAt: number | undefined;
    for (;;) {
      const found = await recordAt(handle, at, size);
      if (found === undefined || found === 'damaged') {
        return { size: at, items, firstAt };
      }
      items += found.record.head.items;
      firstAt ??= found.record.head.at;
      at = found.next;
    }
  } finally {
    await handle.close();
  }
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
