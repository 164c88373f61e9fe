import { type Labels } from 'svc/query';
import { ByteReader, ByteWriter } from 'svc/store';

import { Batch } from './batch.ts';
import { errors } from './errors.ts';

const version = 1;
const headBytes = 5;

export interface LogRecord {
  /** Number that grows by one per record: tells which records of a stream are in blocks already. */
  readonly number: number;
  readonly batch: Batch;
}

/**
 * Encodes a batch as one record of the log: `[version][length of the
 * head][head][ms][ns][ends][meta][bytes]`, with columns in memory layout.
 */
export function encodeRecord({ number, batch }: LogRecord): Uint8Array[] {
  const { count, used, ms, ns, ends, meta, parts, metas, bytes } = batch;
  const head = new ByteWriter(1024);
  head.u8(version);
  head.u32le(0);
  head.uvarint(number);
  head.uvarint(count);
  head.uvarint(used);
  head.uvarint(parts.length);
  for (const { labels, from, to } of parts) {
    head.bytes(bytesOf(labels));
    head.uvarint(from);
    head.uvarint(to);
  }
  head.uvarint(metas.length - 1);
  for (let i = 1; i < metas.length; i++) {
    writeLabels(head, metas[i]!);
  }
  head.patchU32le(1, head.length - headBytes);
  return [
    head.take(),
    raw(ms, count),
    raw(ns, count),
    raw(ends, count),
    raw(meta, count),
    bytes.subarray(0, used),
  ];
}

export function decodeRecord(record: Buffer): LogRecord {
  const outer = new ByteReader(record);
  const found = outer.u8();
  if (found !== version) {
    throw errors.record_version({ found, version });
  }
  const head = new ByteReader(outer.bytes(outer.u32le()));
  const number = head.uvarint();
  const count = head.uvarint();
  const used = head.uvarint();
  if (outer.remaining !== count * 20 + used) {
    throw new RangeError('log store: a WAL record does not have the length it names');
  }
  const batch = new Batch(0, count);
  for (let left = head.uvarint(); left > 0; left--) {
    batch.parts.push({ labels: readLabels(head), from: head.uvarint(), to: head.uvarint() });
  }
  for (let left = head.uvarint(); left > 0; left--) {
    batch.metas.push(readLabels(head));
  }
  for (const column of [batch.ms, batch.ns, batch.ends, batch.meta]) {
    new Uint8Array(column.buffer).set(outer.bytes(count * column.BYTES_PER_ELEMENT));
  }
  batch.bytes = Buffer.from(outer.bytes(used));
  batch.count = count;
  batch.used = used;
  return { number, batch };
}

const knownBytes = new WeakMap<Labels, Uint8Array>();

/**
 * Returns labels as `writeLabels` encodes them; cached, as a stream has the same label object in
 * every batch.
 */
function bytesOf(labels: Labels): Uint8Array {
  let bytes = knownBytes.get(labels);
  if (bytes === undefined) {
    const out = new ByteWriter(256);
    writeLabels(out, labels);
    bytes = out.take().slice();
    knownBytes.set(labels, bytes);
  }
  return bytes;
}

function writeLabels(out: ByteWriter, labels: Labels): void {
  out.uvarint(labels.length);
  for (const text of labels) {
    out.utf8(text);
  }
}

function readLabels(reader: ByteReader): Labels {
  const texts: string[] = [];
  for (let left = reader.uvarint(); left > 0; left--) {
    texts.push(reader.utf8());
  }
  return Object.freeze(texts);
}

const raw = (column: Float64Array | Uint32Array, count: number): Uint8Array =>
  new Uint8Array(column.buffer, 0, count * column.BYTES_PER_ELEMENT);
