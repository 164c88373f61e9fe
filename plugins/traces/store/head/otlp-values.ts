import { type JsonBytes } from 'svc/query';
import { ProtoReader, type ProtoWriter } from 'svc/store';

import type { Attribute, Value } from '../../traceql/spans/span.ts';
import type { Losses } from '../columns/shortened.ts';
import type { TraceLimits } from './limits.ts';

const maxElements = 1_024;

/** An AnyValue of OTLP, bounded; undefined where the sender left it empty. */
export function readValue(
  reader: ProtoReader,
  limits: TraceLimits,
  losses: Losses,
): Value | undefined {
  let value: Value | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        value = { type: 'string', value: reader.string() };
        if (value.value.length > limits.valueLength) {
          value = { type: 'string', value: cut(value.value, limits.valueLength) };
          losses.count++;
        }
        break;
      case 2:
        value = { type: 'bool', value: reader.bool() };
        break;
      case 3:
        value = wholeNumber(reader.int64Big());
        break;
      case 4:
        value = { type: 'float', value: reader.double() };
        break;
      case 5:
        value = { type: 'array', values: readArray(reader.message(), limits, losses) };
        break;
      case 6:
        value = { type: 'map', entries: readEntries(reader.message(), limits, losses) };
        break;
      case 7:
        value = readBytes(reader.bytes(), limits, losses);
        break;
      default:
        reader.skip();
    }
  }
  return value;
}

function readBytes(bytes: Uint8Array, { valueLength }: TraceLimits, losses: Losses): Value {
  losses.count += bytes.length > valueLength ? 1 : 0;
  return { type: 'bytes', value: Uint8Array.from(bytes.subarray(0, valueLength)) };
}

export function wholeNumber(big: bigint): Value {
  const value = Number(big);
  return Number.isSafeInteger(value) ? { type: 'int', value } : { type: 'int', value, exact: big };
}

/** Truncates a text without splitting a surrogate pair. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

function readArray(reader: ProtoReader, limits: TraceLimits, losses: Losses): Value[] {
  const values: Value[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 1 || values.length >= maxElements) {
      losses.count += field === 1 ? 1 : 0;
      reader.skip();
      continue;
    }
    const value = readValue(reader.message(), limits, losses);
    if (value !== undefined) {
      values.push(value);
    }
  }
  return values;
}

function readEntries(reader: ProtoReader, limits: TraceLimits, losses: Losses): Attribute[] {
  const entries: Attribute[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 1 || entries.length >= limits.attributes) {
      losses.count += field === 1 ? 1 : 0;
      reader.skip();
      continue;
    }
    const entry = readKeyValue(reader.message(), limits, losses);
    if (entry !== undefined) {
      entries.push(entry);
    }
  }
  return entries;
}

/** Returns a reader of a length-prefixed message. */
export function readerBehindLength(bytes: Uint8Array, start: number, end: number): ProtoReader {
  let at = start;
  while (bytes[at]! > 0x7f) {
    at++;
  }
  return new ProtoReader(bytes, at + 1, end);
}

/** Undefined: a key without a value, or one that is empty or too long. */
export function readKeyValue(
  reader: ProtoReader,
  limits: TraceLimits,
  losses: Losses,
): Attribute | undefined {
  let key = '';
  let value: Value | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      key = reader.string();
    } else if (field === 2) {
      value = readValue(reader.message(), limits, losses);
    } else {
      reader.skip();
    }
  }
  const isProper = key !== '' && key.length <= limits.keyLength;
  losses.count += isProper ? 0 : 1;
  return isProper && value !== undefined ? { key, value } : undefined;
}

export function writeKeyValue(writer: ProtoWriter, { key, value }: Attribute): void {
  writer.string(1, key);
  writer.message(2, (message) => writeValue(message, value));
}

export function writeValue(writer: ProtoWriter, value: Value): void {
  switch (value.type) {
    case 'string':
      writer.string(1, value.value);
      return;
    case 'bool':
      writer.bool(2, value.value);
      return;
    case 'int':
    case 'duration':
    case 'status':
    case 'kind':
      writer.int64(
        3,
        value.type === 'int' && value.exact !== undefined ? value.exact : Math.trunc(value.value),
      );
      return;
    case 'float':
      writer.double(4, value.value);
      return;
    case 'array':
    case 'each':
      writer.message(5, (message) =>
        value.values.forEach((one) => message.message(1, (inner) => writeValue(inner, one))),
      );
      return;
    case 'map':
      writer.message(6, (message) =>
        value.entries.forEach((entry) =>
          message.message(1, (inner) => writeKeyValue(inner, entry)),
        ),
      );
      return;
    case 'bytes':
      writer.bytes(7, value.value);
  }
}

/** Writes an AnyValue in the JSON form of OTLP; types that only the query language has as text. */
export function valueJson(json: JsonBytes, value: Value): void {
  switch (value.type) {
    case 'string':
      json.raw('{"stringValue":').string(value.value).raw('}');
      return;
    case 'bool':
      json.raw(value.value ? '{"boolValue":true}' : '{"boolValue":false}');
      return;
    case 'int':
      json.raw(`{"intValue":"${value.exact ?? BigInt(value.value)}"}`);
      return;
    case 'float':
      json.raw('{"doubleValue":');
      if (Number.isFinite(value.value)) {
        json.number(value.value);
      } else {
        json.string(Number.isNaN(value.value) ? 'NaN' : value.value > 0 ? 'Infinity' : '-Infinity');
      }
      json.raw('}');
      return;
    case 'array':
    case 'each':
      json.raw('{"arrayValue":{"values":[');
      value.values.forEach((one, index) => {
        json.raw(index === 0 ? '' : ',');
        valueJson(json, one);
      });
      json.raw(']}}');
      return;
    case 'map':
      json.raw('{"kvlistValue":{"values":');
      attributesJson(json, value.entries);
      json.raw('}}');
      return;
    case 'bytes':
      json.raw('{"bytesValue":"').raw(Buffer.from(value.value).toString('base64')).raw('"}');
      return;
    case 'duration':
    case 'status':
    case 'kind':
      json.raw('{"stringValue":').string(valueText(value)).raw('}');
  }
}

export function attributesJson(json: JsonBytes, attributes: readonly Attribute[]): void {
  json.raw('[');
  attributes.forEach(({ key, value }, index) => {
    json
      .raw(index === 0 ? '{"key":' : ',{"key":')
      .string(key)
      .raw(',"value":');
    valueJson(json, value);
    json.raw('}');
  });
  json.raw(']');
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const statuses = ['unset', 'ok', 'error'];

/** Formats a value for people. */
export function valueText(value: Value): string {
  switch (value.type) {
    case 'string':
      return value.value;
    case 'status':
      return statuses[value.value] ?? 'unset';
    case 'kind':
      return kinds[value.value] ?? 'unspecified';
    case 'duration':
      return `${value.value / 1e6}ms`;
    case 'int':
      return String(value.exact ?? value.value);
    case 'float':
    case 'bool':
      return String(value.value);
    case 'bytes':
      return Buffer.from(value.value).toString('base64');
    case 'array':
    case 'each':
      return `[${value.values.map(valueText).join(', ')}]`;
    case 'map':
      return `{${value.entries.map((entry) => `${entry.key}: ${valueText(entry.value)}`).join(', ')}}`;
  }
}
