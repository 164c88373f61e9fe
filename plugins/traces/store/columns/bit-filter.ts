import type { SpanPrefilter } from '../../traceql/spans/source.ts';
import type { Value } from '../../traceql/spans/span.ts';

const lineBytes = 64;
const lineBits = lineBytes * 8;

/** Set with false positives, but no false negatives. The bits of an entry share one cache line. */
export class BitFilter {
  readonly bytes: Uint8Array;
  readonly #lines: number;
  readonly #probes: number;

  constructor(bytes: Uint8Array, probes: number) {
    this.bytes = bytes;
    this.#lines = Math.max(1, Math.floor(bytes.length / lineBytes));
    this.#probes = probes;
  }

  static sized(entries: number, bitsPerEntry: number, probes: number): BitFilter {
    return new BitFilter(
      new Uint8Array(Math.ceil((Math.max(1, entries) * bitsPerEntry) / lineBits) * lineBytes),
      probes,
    );
  }

  add(hash: number): void {
    const start = this.#lineOf(hash);
    const step = stepOf(hash);
    let probe = firstOf(hash);
    for (let i = 0; i < this.#probes; i++) {
      const bit = probe % lineBits;
      this.bytes[start + (bit >>> 3)]! |= 1 << (bit & 7);
      probe = (probe + step) >>> 0;
    }
  }

  has(hash: number): boolean {
    const start = this.#lineOf(hash);
    const step = stepOf(hash);
    let probe = firstOf(hash);
    for (let i = 0; i < this.#probes; i++) {
      const bit = probe % lineBits;
      if ((this.bytes[start + (bit >>> 3)]! & (1 << (bit & 7))) === 0) {
        return false;
      }
      probe = (probe + step) >>> 0;
    }
    return true;
  }

  #lineOf(hash: number): number {
    return ((Math.imul(hash, 0x9e3779b1) >>> 0) % this.#lines) * lineBytes;
  }
}

const firstOf = (hash: number): number => mix(hash ^ 0x5bd1e995);
const stepOf = (hash: number): number => (mix(hash ^ 0x1b873593) | 1) >>> 0;

function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export function hashOfTrace(id: Uint8Array, start = 0): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < start + 16; i++) {
    hash = Math.imul(hash ^ id[i]!, 0x01000193);
  }
  return mix(hash);
}

/** Key of span names, which no attribute can have. */
export const nameKey = '';

/** Begins the hash of an attribute; the same for all that have this key. */
export const hashOfKey = (key: string): number => hashOn(0x811c9dc5, Buffer.from(`${key}\0`));

/** The hash of an attribute that is a text, from the bytes of it. */
export const hashOfTextValue = (keyHash: number, text: Uint8Array): number =>
  mix(hashOn(hashOn(keyHash, textMark), text));

const textMark = Buffer.from('s');

function hashOn(from: number, bytes: Uint8Array): number {
  let hash = from;
  for (let i = 0; i < bytes.length; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  return hash;
}

/** Returns the hashes of an attribute for a filter: one, or one for each element of a list. */
export function hashesOf(keyHash: number, value: Value): number[] {
  switch (value.type) {
    case 'array':
      return value.values.flatMap((one) => hashesOf(keyHash, one));
    case 'string':
      return [hashOfTextValue(keyHash, Buffer.from(value.value))];
    case 'bool':
      return [mix(hashOn(keyHash, Buffer.from(`b${value.value}`)))];
    case 'int':
    case 'float':
    case 'duration':
      // Numbers of any type are equal to a query.
      return [mix(hashOn(keyHash, Buffer.from(`n${value.value}`)))];
    default:
      return [];
  }
}

/** Returns whether a block with this filter may contain a matching span. */
export function mayHold(filter: BitFilter, wanted: SpanPrefilter): boolean {
  if ('all' in wanted) {
    return wanted.all.every((part) => mayHold(filter, part));
  }
  if ('some' in wanted) {
    return wanted.some.some((part) => mayHold(filter, part));
  }
  const { field, equals } = wanted;
  if (equals === undefined || ('intrinsic' in field && field.intrinsic !== 'name')) {
    return true;
  }
  const hashes = hashesOf(hashOfKey('intrinsic' in field ? nameKey : field.key), equals);
  return hashes.every((hash) => filter.has(hash));
}
