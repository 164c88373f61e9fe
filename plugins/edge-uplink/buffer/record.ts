import { crc32c } from './crc32c.ts';

/** Head of a record, which precedes its body. */
export interface RecordHead {
  /** A path of the manager's data plane, or the name of an event. */
  readonly to: string;
  readonly type: string;
  readonly encoding?: string | undefined;
  readonly items: number;
  /** When it was left here, in milliseconds since the epoch. */
  readonly at: number;
}

export interface BufferRecord {
  readonly head: RecordHead;
  readonly body: Uint8Array;
}

/** Length of the payload, its CRC32C, length of the head; then the head as JSON, then the body. */
export const prefixBytes = 12;
const maxHeadBytes = 16 * 1024;
export const maxRecordBytes = 8 * 1024 * 1024;

export function writeRecord(head: RecordHead, body: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const bytes = Buffer.allocUnsafe(prefixBytes + text.length + body.length);
  bytes.writeUInt32LE(text.length + body.length, 0);
  bytes.writeUInt32LE(text.length, 8);
  text.copy(bytes, prefixBytes);
  bytes.set(body, prefixBytes + text.length);
  bytes.writeUInt32LE(crc32c(bytes.subarray(8)), 4);
  return bytes;
}

export interface RecordPrefix {
  readonly payload: number;
  readonly crc: number;
  readonly head: number;
}

/** Undefined when these bytes begin no record. */
export function readPrefix(bytes: Buffer): RecordPrefix | undefined {
  if (bytes.length < prefixBytes) {
    return undefined;
  }
  const prefix = {
    payload: bytes.readUInt32LE(0),
    crc: bytes.readUInt32LE(4),
    head: bytes.readUInt32LE(8),
  };
  const sound =
    prefix.head > 0 &&
    prefix.head <= maxHeadBytes &&
    prefix.payload >= prefix.head &&
    prefix.payload <= maxRecordBytes;
  return sound ? prefix : undefined;
}

/** Returns the record in `bytes`, its prefix included; undefined if it is corrupt. */
export function readRecord(bytes: Buffer, prefix: RecordPrefix): BufferRecord | undefined {
  if (bytes.length !== prefixBytes + prefix.payload || crc32c(bytes.subarray(8)) !== prefix.crc) {
    return undefined;
  }
  const body = prefixBytes + prefix.head;
  return {
    head: JSON.parse(bytes.toString('utf8', prefixBytes, body)) as RecordHead,
    body: bytes.subarray(body),
  };
}
