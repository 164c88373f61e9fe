import { crc32 } from 'node:zlib';

import { BrokenStream } from './broken-stream.ts';
import type { SseEvent } from './sse.ts';

const maxFrame = 16 * 1024 * 1024;
const preludeBytes = 12;
/** Kind of a header whose value is a text; the only one that matters here. */
const textKind = 7;
/** Bytes of the values of the other kinds of headers; -1: their length comes first. */
const valueBytes = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];

/** Events of AWS's binary stream: frames with a length, headers, a payload and two checksums. */
export async function* eventStream(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    rest = Buffer.concat([rest, piece]);
    while (rest.length >= preludeBytes) {
      const length = rest.readUInt32BE(0);
      if (
        length < preludeBytes + 4 ||
        length > maxFrame ||
        crc32(rest.subarray(0, 8)) !== rest.readUInt32BE(8)
      ) {
        throw new BrokenStream('the stream is not in the form of AWS events');
      }
      if (rest.length < length) {
        break;
      }
      yield eventOf(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  }
  if (rest.length > 0) {
    throw new BrokenStream('the stream ended in the middle of an event');
  }
}

function eventOf(frame: Buffer): SseEvent {
  const end = frame.length - 4;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) {
    throw new BrokenStream('an event of the stream is damaged');
  }
  const payload = preludeBytes + frame.readUInt32BE(4);
  const headers = headersOf(frame.subarray(preludeBytes, payload));
  return {
    event: headers.get(':exception-type') ?? headers.get(':event-type') ?? '',
    data: frame.subarray(payload, end).toString('utf8') || '{}',
  };
}

function headersOf(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString('utf8', at + 1, nameEnd);
    const kind = bytes.readUInt8(nameEnd);
    const fixed = valueBytes[kind];
    if (fixed === undefined) {
      throw new BrokenStream('an event of the stream has a header of an unknown kind');
    }
    const start = nameEnd + 1 + (fixed < 0 ? 2 : 0);
    const length = fixed < 0 ? bytes.readUInt16BE(nameEnd + 1) : fixed;
    if (kind === textKind) {
      headers.set(name, bytes.toString('utf8', start, start + length));
    }
    at = start + length;
  }
  return headers;
}
