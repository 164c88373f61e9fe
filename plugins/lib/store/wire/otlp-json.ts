import { type SvcError } from 'svc/sdk';
import { errors } from './errors.ts';
import type { AnyValue, KeyValue, OtlpResource, OtlpScope } from './otlp.ts';
import { JsonList } from './push-json.ts';

/** The JSON form of OTLP: 64-bit numbers are strings, ids are hexadecimal, unknown fields mean nothing. */

const deepest = 64;

const refused = (what: string): SvcError => errors.otlp({ what });

/** Returns a field that must be an object; an empty one if it is omitted. */
export function jsonObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) {
    return {};
  }
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof JsonList) {
    throw refused(`${what} is no object`);
  }
  return value as Record<string, unknown>;
}

export function jsonArray(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) {
    return [];
  }
  if (!Array.isArray(value)) {
    throw refused(`${what} is no array`);
  }
  return value;
}

/** The entries of a list that may be too long to be one array; they can be read once, in their order. */
export const jsonEntries = (value: unknown, what: string): Iterable<unknown> =>
  value instanceof JsonList ? value : jsonArray(value, what);

export function jsonText(value: unknown, what: string): string {
  if (value === undefined || value === null) {
    return '';
  }
  if (typeof value !== 'string') {
    throw refused(`${what} is no string`);
  }
  return value;
}

/** A number that may be written as a string, as those of 64 bits are, or `NaN`, `Infinity`, `-Infinity`. */
export function jsonNumber(value: unknown, what: string): number {
  if (value === undefined || value === null) {
    return 0;
  }
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' &&
          /^(?:-?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|Infinity)|NaN)$/.test(value)
        ? Number(value)
        : undefined;
  if (number === undefined) {
    throw refused(`${what} is no number`);
  }
  return number;
}

/** Nanoseconds since the epoch, without a loss: a string of digits, or a number. */
export function jsonNanos(
  value: unknown,
  what: string,
): { readonly ms: number; readonly ns: number } {
  const text =
    value === undefined || value === null
      ? '0'
      : typeof value === 'number' && value >= 0 && value < 2 ** 64
        ? BigInt(Math.trunc(value)).toString()
        : value;
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) {
    throw refused(`${what} is no time in nanoseconds`);
  }
  return { ms: Number(text.slice(0, -6)), ns: Number(text.slice(-6)) };
}

/** An id; '' where it is left out gives no bytes. */
export function jsonHex(value: unknown, bytes: number, what: string): Uint8Array {
  const text = jsonText(value, what);
  if (text !== '' && (text.length !== bytes * 2 || !/^[0-9a-fA-F]+$/.test(text))) {
    throw refused(`${what} is not ${bytes} bytes in hexadecimal digits`);
  }
  return Uint8Array.from(Buffer.from(text, 'hex'));
}

export function anyValueFromJson(json: unknown, depth = 0): AnyValue {
  if (depth > deepest) {
    throw refused(`values are nested more than ${deepest} deep`);
  }
  const value = jsonObject(json, 'a value');
  if (value['stringValue'] !== undefined) {
    return jsonText(value['stringValue'], 'stringValue');
  }
  if (value['boolValue'] !== undefined) {
    return jsonBoolean(value['boolValue']);
  }
  if (value['intValue'] !== undefined) {
    return jsonWholeNumber(value['intValue']);
  }
  if (value['doubleValue'] !== undefined) {
    return jsonNumber(value['doubleValue'], 'doubleValue');
  }
  if (value['arrayValue'] !== undefined) {
    const { values } = jsonObject(value['arrayValue'], 'arrayValue');
    return jsonArray(values, 'values').map((entry) => anyValueFromJson(entry, depth + 1));
  }
  if (value['kvlistValue'] !== undefined) {
    const { values } = jsonObject(value['kvlistValue'], 'kvlistValue');
    return new Map(keyValuesFromJson(values, depth + 1).map((pair) => [pair.key, pair.value]));
  }
  if (value['bytesValue'] !== undefined) {
    return Uint8Array.from(Buffer.from(jsonText(value['bytesValue'], 'bytesValue'), 'base64'));
  }
  return undefined;
}

/** Reads the value of the key `boolValue`. */
export function jsonBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') {
    throw refused('boolValue is neither true nor false');
  }
  return value;
}

/** Reads the value of the key `intValue`: a number, or 64 bits as decimal text. */
export function jsonWholeNumber(value: unknown): number | bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) {
    return value;
  }
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) {
    throw refused('intValue is no whole number');
  }
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

export function keyValuesFromJson(json: unknown, depth = 0): KeyValue[] {
  return jsonArray(json, 'attributes').map((entry) => {
    const { key, value } = jsonObject(entry, 'an attribute');
    return { key: jsonText(key, 'the key of an attribute'), value: anyValueFromJson(value, depth) };
  });
}

export const resourceFromJson = (json: unknown): OtlpResource => ({
  attributes: keyValuesFromJson(jsonObject(json, 'resource')['attributes']),
});

export function scopeFromJson(json: unknown): OtlpScope {
  const { name, version, attributes } = jsonObject(json, 'scope');
  return {
    name: jsonText(name, 'the name of a scope'),
    version: jsonText(version, 'the version of a scope'),
    attributes: keyValuesFromJson(attributes),
  };
}
