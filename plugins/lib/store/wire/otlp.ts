import { formatFloat } from 'svc/query';
import { errors } from './errors.ts';
import type { ProtoReader } from './protobuf.ts';

/** A value of an attribute. Whole numbers past 2^53 are bigints; a list of keys and values is a Map; undefined where a sender left it empty. */
export type AnyValue =
  | string
  | boolean
  | number
  | bigint
  | Uint8Array
  | readonly AnyValue[]
  | ReadonlyMap<string, AnyValue>
  | undefined;

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export interface OtlpResource {
  readonly attributes: readonly KeyValue[];
}

export interface OtlpScope {
  readonly name: string;
  readonly version: string;
  readonly attributes: readonly KeyValue[];
}

/** An AnyValue, and the depth is bounded by the reader. */
export function decodeAnyValue(reader: ProtoReader): AnyValue {
  let value: AnyValue;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        value = reader.string();
        break;
      case 2:
        value = reader.bool();
        break;
      case 3:
        value = reader.int64Exact();
        break;
      case 4:
        value = reader.double();
        break;
      case 5:
        value = decodeArray(reader.message());
        break;
      case 6:
        value = new Map(decodeKeyValues(reader.message()).map((pair) => [pair.key, pair.value]));
        break;
      case 7:
        value = Uint8Array.from(reader.bytes());
        break;
      default:
        reader.skip();
    }
  }
  return value;
}

function decodeArray(reader: ProtoReader): AnyValue[] {
  const values: AnyValue[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      values.push(decodeAnyValue(reader.message()));
    } else {
      reader.skip();
    }
  }
  return values;
}

function decodeKeyValues(reader: ProtoReader): KeyValue[] {
  const pairs: KeyValue[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      pairs.push(decodeKeyValue(reader.message()));
    } else {
      reader.skip();
    }
  }
  return pairs;
}

export function decodeKeyValue(reader: ProtoReader): KeyValue {
  let key = '';
  let value: AnyValue;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      key = reader.string();
    } else if (field === 2) {
      value = decodeAnyValue(reader.message());
    } else {
      reader.skip();
    }
  }
  return { key, value };
}

export function decodeResource(reader: ProtoReader): OtlpResource {
  return { attributes: decodeKeyValues(reader) };
}

export function decodeScope(reader: ProtoReader): OtlpScope {
  let name = '';
  let version = '';
  const attributes: KeyValue[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        name = reader.string();
        break;
      case 2:
        version = reader.string();
        break;
      case 3:
        attributes.push(decodeKeyValue(reader.message()));
        break;
      default:
        reader.skip();
    }
  }
  return { name, version, attributes };
}

const deepestText = 16;

/** A value as the text of a label: strings as they are, numbers in Go's form, lists and maps as JSON, bytes in base64. */
export function anyValueText(value: AnyValue): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return formatFloat(value);
    case 'undefined':
      return '';
    case 'object':
      return value instanceof Uint8Array
        ? Buffer.from(value).toString('base64')
        : JSON.stringify(plain(value, 0));
    default:
      return String(value);
  }
}

/** Converts a value to plain JSON; objects have no prototype, so that any key is only a key. */
export function plain(value: AnyValue, depth = 0): unknown {
  if (depth > deepestText) {
    throw errors.attribute_depth({ max: deepestText });
  }
  if (value instanceof Uint8Array) {
    return Buffer.from(value).toString('base64');
  }
  if (value instanceof Map) {
    const record = Object.create(null) as Record<string, unknown>;
    for (const [key, entry] of value as ReadonlyMap<string, AnyValue>) {
      record[key] = plain(entry, depth + 1);
    }
    return record;
  }
  if (Array.isArray(value)) {
    return (value as readonly AnyValue[]).map((entry) => plain(entry, depth + 1));
  }
  return typeof value === 'bigint' ? String(value) : (value ?? null);
}
