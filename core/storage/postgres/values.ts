import { errors } from './errors.ts';

const oid = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  float4: 700,
  float8: 701,
  numeric: 1700,
};

/** Puts a value as Postgres reads it. It has no U+0000, which becomes U+FFFD. */
export function sent(value: unknown): string | Buffer | null {
  if (typeof value === 'string') {
    return value.replaceAll('\0', '\uFFFD');
  }
  if (value === null || Number.isNaN(value)) {
    return null;
  }
  if (typeof value === 'number' || typeof value === 'bigint') {
    return String(value);
  }
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  throw new TypeError('a statement takes numbers, strings, bigints, buffers and null');
}

function exact(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw errors.pg_number({ value: text });
  }
  return value;
}

const readers = new Map<number, (text: string) => unknown>([
  [oid.bool, (text) => (text === 't' ? 1 : 0)],
  [oid.bytea, (text) => Buffer.from(text.slice(2), 'hex')],
  [oid.int8, exact],
  [oid.int2, Number],
  [oid.int4, Number],
  [oid.float4, Number],
  [oid.float8, Number],
  [oid.numeric, exact],
]);

const asText = (text: string): unknown => text;

/** Reads values as SQLite returns them. */
export const received = {
  getTypeParser: (type: number) => readers.get(type) ?? asText,
};
