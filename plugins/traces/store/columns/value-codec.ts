import type { ByteReader, ByteWriter } from 'svc/store';

import type { Attribute, Value } from '../../traceql/spans/span.ts';
import { errors } from './errors.ts';

/** Types by number; written into blocks, so never renumber. */
const types = {
  string: 0,
  no: 1,
  yes: 2,
  int: 3,
  exact: 4,
  float: 5,
  array: 6,
  map: 7,
  bytes: 8,
} as const;

const deepest = 64;
const zigzagLimit = 2 ** 52;

/** Encodes a text from its bytes. */
export function encodeText(writer: ByteWriter, text: Uint8Array): void {
  writer.u8(types.string);
  writer.block(text);
}

export function encodeValue(writer: ByteWriter, value: Value): void {
  switch (value.type) {
    case 'string':
      writer.u8(types.string);
      writer.utf8(value.value);
      return;
    case 'bool':
      writer.u8(value.value ? types.yes : types.no);
      return;
    case 'int':
      if (Math.abs(value.value) < zigzagLimit) {
        writer.u8(types.int);
        writer.svarint(value.value);
      } else {
        writer.u8(types.exact);
        writer.u64le(BigInt.asUintN(64, value.exact ?? BigInt(value.value)));
      }
      return;
    case 'float':
      writer.u8(types.float);
      writer.f64le(value.value);
      return;
    case 'array':
      writer.u8(types.array);
      writer.uvarint(value.values.length);
      value.values.forEach((one) => encodeValue(writer, one));
      return;
    case 'map':
      writer.u8(types.map);
      writer.uvarint(value.entries.length);
      for (const entry of value.entries) {
        writer.utf8(entry.key);
        encodeValue(writer, entry.value);
      }
      return;
    case 'bytes':
      writer.u8(types.bytes);
      writer.block(value.value);
      return;
    case 'duration':
    case 'status':
    case 'kind':
    case 'each':
      throw new TypeError(`no attribute has a ${value.type}`);
  }
}

/** Steps over a value; true where it is this text, undefined where that takes decoding it. */
export function skipValue(reader: ByteReader, text?: Uint8Array): boolean | undefined {
  const type = reader.u8();
  switch (type) {
    case types.string: {
      const length = reader.uvarint();
      const bytes = reader.bytes(length);
      return text !== undefined && text.length === length && Buffer.compare(text, bytes) === 0;
    }
    case types.no:
    case types.yes:
      return false;
    case types.int:
      reader.svarint();
      return false;
    case types.exact:
    case types.float:
      reader.bytes(8);
      return false;
    default:
      reader.seek(reader.position - 1);
      decodeValue(reader);
      return undefined;
  }
}

export function decodeValue(reader: ByteReader, depth = 0): Value {
  if (depth > deepest) {
    throw errors.value_depth();
  }
  const type = reader.u8();
  switch (type) {
    case types.string:
      return { type: 'string', value: reader.utf8() };
    case types.no:
    case types.yes:
      return { type: 'bool', value: type === types.yes };
    case types.int:
      return { type: 'int', value: reader.svarint() };
    case types.exact: {
      const exact = BigInt.asIntN(64, reader.u64le());
      return { type: 'int', value: Number(exact), exact };
    }
    case types.float:
      return { type: 'float', value: reader.f64le() };
    case types.array: {
      const values: Value[] = [];
      for (let count = reader.uvarint(); count > 0; count--) {
        values.push(decodeValue(reader, depth + 1));
      }
      return { type: 'array', values };
    }
    case types.map: {
      const entries: Attribute[] = [];
      for (let count = reader.uvarint(); count > 0; count--) {
        entries.push({ key: reader.utf8(), value: decodeValue(reader, depth + 1) });
      }
      return { type: 'map', entries };
    }
    case types.bytes:
      return { type: 'bytes', value: Uint8Array.from(reader.block()) };
    default:
      throw errors.value_type({ type });
  }
}
