import { type Labels, noLabels } from 'svc/query';
import { ByteReader, type ByteWriter } from 'svc/store';

import { type Columns, startOf } from '../lines/columns.ts';

const version = 1;
const withNanos = 1;
const withMeta = 2;

/**
 * One chunk, before compression: `[version][flags][count][length of the columns][columns][lines]`. The columns are the
 * times as differences, the nanoseconds, the lengths of the lines, then the metadata: its sets once, and which set each
 * line has. Lines come last and unbroken, so that a search for a text runs over all of them before a column is read.
 */
export function encodeChunk(
  columns: Columns,
  from: number,
  to: number,
  writer: ByteWriter,
  scratch: ByteWriter,
): Uint8Array {
  const { ms, ns, ends, meta, metas, lines } = columns;
  const start = startOf(columns, from);
  scratch.reset();
  let nanos = false;
  for (let i = from; i < to && !nanos; i++) {
    nanos = ns[i] !== 0;
  }
  scratch.svarint(ms[from]!);
  for (let i = from + 1; i < to; i++) {
    scratch.uvarint(ms[i]! - ms[i - 1]!);
  }
  for (let i = from; nanos && i < to; i++) {
    scratch.uvarint(ns[i]!);
  }
  for (let i = from; i < to; i++) {
    scratch.uvarint(ends[i]! - (i === from ? start : ends[i - 1]!));
  }
  const described =
    meta !== undefined && metas.length > 1 && writeMeta(scratch, meta, metas, from, to);
  writer.reset();
  writer.u8(version);
  writer.u8((nanos ? withNanos : 0) | (described ? withMeta : 0));
  writer.uvarint(to - from);
  writer.block(scratch.take());
  writer.bytes(lines.subarray(start, ends[to - 1]));
  return writer.take();
}

/**
 * Writes metadata sets where they are first used; 0 means none, and the last known number plus one
 * introduces a new set.
 */
function writeMeta(
  out: ByteWriter,
  meta: Uint32Array,
  metas: readonly Labels[],
  from: number,
  to: number,
): boolean {
  const local = new Uint32Array(metas.length);
  const used: Labels[] = [];
  for (let i = from; i < to; i++) {
    const set = meta[i]!;
    if (set !== 0 && local[set] === 0) {
      local[set] = used.push(metas[set]!);
    }
  }
  if (used.length === 0) {
    return false;
  }
  out.uvarint(used.length);
  for (const labels of used) {
    out.uvarint(labels.length);
    for (const text of labels) {
      out.utf8(text);
    }
  }
  for (let i = from; i < to; i++) {
    out.uvarint(local[meta[i]!]!);
  }
  return true;
}

/** The lines of an encoded chunk, without reading its columns. */
export function chunkLines(bytes: Uint8Array): Buffer {
  const reader = headed(bytes);
  reader.reader.block();
  return bufferOver(bytes, reader.reader.position);
}

export function decodeChunk(bytes: Uint8Array): Columns {
  const { reader: outer, flags, count } = headed(bytes);
  const columns = outer.block();
  const lines = bufferOver(bytes, outer.position);
  const reader = new ByteReader(columns);
  const ms = new Float64Array(count);
  const ns = new Uint32Array(count);
  const ends = new Uint32Array(count);
  ms[0] = reader.svarint();
  for (let i = 1; i < count; i++) {
    ms[i] = ms[i - 1]! + reader.uvarint();
  }
  for (let i = 0; (flags & withNanos) !== 0 && i < count; i++) {
    ns[i] = reader.uvarint();
  }
  let end = 0;
  for (let i = 0; i < count; i++) {
    end += reader.uvarint();
    ends[i] = end;
  }
  if (end !== lines.length) {
    throw new RangeError('the lines of a chunk do not have the lengths it names');
  }
  if ((flags & withMeta) === 0) {
    return { count, ms, ns, ends, meta: undefined, metas: [noLabels], lines };
  }
  const metas = readMetas(reader);
  const meta = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    meta[i] = reader.uvarint();
    if (meta[i]! >= metas.length) {
      throw new RangeError('a line of a chunk has metadata that the chunk does not hold');
    }
  }
  return { count, ms, ns, ends, meta, metas, lines };
}

function readMetas(reader: ByteReader): Labels[] {
  const metas: Labels[] = [noLabels];
  for (let left = reader.uvarint(); left > 0; left--) {
    const texts: string[] = [];
    for (let more = reader.uvarint(); more > 0; more--) {
      texts.push(reader.utf8());
    }
    metas.push(Object.freeze(texts));
  }
  return metas;
}

function headed(bytes: Uint8Array): { reader: ByteReader; flags: number; count: number } {
  const reader = new ByteReader(bytes);
  const found = reader.u8();
  if (found !== version) {
    throw new RangeError(`a chunk is of version ${found}; this svc reads version ${version}`);
  }
  const flags = reader.u8();
  const count = reader.uvarint();
  // Each line costs at least two bytes of the columns.
  if (count === 0 || count > bytes.length) {
    throw new RangeError('a chunk names more lines than it holds');
  }
  return { reader, flags, count };
}

const bufferOver = (bytes: Uint8Array, from: number): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.length - from);
