import { gunzip, reusableBuffer, snappyDecode } from 'svc/store';

import type { Batch } from '../lines/batch.ts';
import { errors } from './errors.ts';
import { readJsonPush } from './json-push.ts';
import { readOtlpJson, readOtlpProto } from './otlp-push.ts';
import { readProtoPush } from './proto-push.ts';

export type PushFormat = 'loki-json' | 'loki-proto' | 'otlp-proto' | 'otlp-json';

const unpacked = reusableBuffer();
/** Past this the memory is given back. */
const maxKept = 8 * 1024 * 1024;

/** Decodes a body of any format; its content is unchanged, and no memory of the body is kept. */
export function decodePush(
  format: PushFormat,
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Batch {
  const bytes = inflated(format, body, encoding, maxBytes);
  try {
    return read(format, bytes);
  } finally {
    if (unpacked.bytes.length > maxKept) {
      unpacked.bytes = new Uint8Array(0);
    }
  }
}

function read(format: PushFormat, bytes: Buffer): Batch {
  switch (format) {
    case 'loki-json':
      return readJsonPush(bytes);
    case 'loki-proto':
      return readProtoPush(bytes);
    case 'otlp-proto':
      return readOtlpProto(bytes);
    case 'otlp-json':
      return readOtlpJson(bytes);
    default:
      throw errors.push_format({ format: String(format satisfies never) });
  }
}

/**
 * Unpacks a body; Loki's protobuf is packed with snappy whatever the header says, unless that says
 * gzip.
 */
function inflated(
  format: PushFormat,
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Buffer {
  const packing =
    encoding === undefined || encoding === '' || encoding === 'identity'
      ? format === 'loki-proto'
        ? 'snappy'
        : 'none'
      : encoding.toLowerCase();
  switch (packing) {
    case 'none':
      return view(body);
    case 'gzip':
      return view(gunzip(body, { maxBytes }));
    case 'snappy':
      return view(snappyDecode(body, { maxBytes }, unpacked));
    default:
      throw errors.encoding({ packing: packing.slice(0, 40) });
  }
}

const view = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
