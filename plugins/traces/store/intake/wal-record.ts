import { ByteReader, ByteWriter } from 'svc/store';

import type { ServerStamp } from '../head/head-dictionary.ts';
import { errors } from './errors.ts';

const version = 1;

/** Encodes the head of a body in the log: who sent it, and when it arrived. */
export function recordHead(stamp: ServerStamp, receivedAt: number): Uint8Array {
  const writer = new ByteWriter(64);
  writer.u8(version);
  writer.f64le(receivedAt);
  // Undefined is not empty: an empty id would be stamped.
  [stamp.device_id, stamp.edge_id].forEach((id) => {
    writer.u8(id === undefined ? 0 : 1);
    writer.utf8(id ?? '');
  });
  return writer.take();
}

export interface WalRecord {
  readonly stamp: ServerStamp;
  readonly receivedAt: number;
  readonly body: Buffer;
}

export function readRecord(record: Buffer): WalRecord {
  const reader = new ByteReader(record);
  const found = reader.u8();
  if (found !== version) {
    throw errors.record_version({ found });
  }
  const receivedAt = reader.f64le();
  const id = (): string | undefined => {
    const present = reader.u8() === 1;
    const text = reader.utf8();
    return present ? text : undefined;
  };
  const stamp = { device_id: id(), edge_id: id() };
  return { receivedAt, stamp, body: record.subarray(reader.position) };
}
