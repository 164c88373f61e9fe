import { isUtf8 } from 'node:buffer';

import { type Labels } from 'svc/query';

import { type Scratch } from '../columns/scratch.ts';

/**
 * Writes labels as bytes in the form of remote write (`0a len 0a len name 12 len value`, sorted by
 * name), so that what arrives well-formed is looked up unchanged.
 */
export function writeRawLabels(out: Scratch, labels: Labels): void {
  for (let i = 0; i < labels.length; i += 2) {
    const name = labels[i]!;
    const value = labels[i + 1]!;
    const nameSize = sizeOf(name);
    const valueSize = sizeOf(value);
    out.u8(0x0a);
    out.uvarint(2 + nameSize + sizeOfVarint(nameSize) + valueSize + sizeOfVarint(valueSize));
    out.u8(0x0a);
    put(out, name, nameSize);
    out.u8(0x12);
    put(out, value, valueSize);
  }
}

function sizeOf(text: string): number {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 127) {
      return Buffer.byteLength(text);
    }
  }
  return text.length;
}

function put(out: Scratch, text: string, size: number): void {
  out.uvarint(size);
  if (size > text.length) {
    out.put(Buffer.from(text));
    return;
  }
  out.ensure(size);
  for (let i = 0; i < size; i++) {
    out.bytes[out.at++] = text.charCodeAt(i);
  }
}

/** Returns the pairs of raw labels; undefined if they are invalid. */
export function readRawLabels(
  bytes: Uint8Array,
  from: number,
  to: number,
): [string, string][] | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const pairs: [string, string][] = [];
  let at = from;
  /** Reads a length at `at`; -1 if it goes beyond `end`. */
  const length = (end: number): number => {
    let value = 0;
    for (let shift = 0; at < end && shift < 28; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) {
        return value <= end - at ? value : -1;
      }
    }
    return -1;
  };
  while (at < to) {
    if (bytes[at++] !== 0x0a) {
      return undefined;
    }
    const size = length(to);
    if (size === -1) {
      return undefined;
    }
    const end = at + size;
    const pair: [string, string] = ['', ''];
    while (at < end) {
      const tag = bytes[at++];
      const part = tag === 0x0a || tag === 0x12 ? length(end) : -1;
      if (part === -1) {
        return undefined;
      }
      pair[tag === 0x0a ? 0 : 1] = strictText(text.subarray(at, at + part));
      at += part;
    }
    pairs.push(pair);
  }
  return pairs;
}

/** Decodes bytes as text; invalid bytes become a lone surrogate, which no label may hold. */
export const strictText = (bytes: Uint8Array): string =>
  isUtf8(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
    : `${Buffer.from(bytes).toString('latin1')}\udc80`;

function sizeOfVarint(value: number): number {
  return value < 128 ? 1 : value < 16_384 ? 2 : 3;
}
