import type { SvcError } from 'svc/sdk';
import {
  jsonArray,
  jsonBoolean,
  jsonEntries,
  jsonNanos,
  jsonNumber,
  jsonObject,
  jsonText,
  jsonWholeNumber,
  ProtoWriter,
  parsePushJson,
} from 'svc/store';

import { errors } from './errors.ts';

/** The JSON form of an ExportTraceServiceRequest as the protobuf one, so that there is one reader and one log. */
export function protoFromJson(body: Uint8Array): Uint8Array {
  try {
    const request = jsonObject(parsePushJson(body, lists), 'the request');
    const writer = new ProtoWriter(body.length);
    for (const entry of jsonEntries(request['resourceSpans'], 'resourceSpans')) {
      writer.message(1, (message) =>
        writeResourceSpans(message, jsonObject(entry, 'an entry of resourceSpans')),
      );
    }
    return writer.finish();
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw errors.otlp_json({ cause: error.message }, { cause: error });
    }
    throw error;
  }
}

type Json = Readonly<Record<string, unknown>>;

/** Lists that are read in pieces. */
const lists = ['resourceSpans', 'scopeSpans', 'spans'];

const deepest = 32;

const refused = (what: string): SvcError => errors.otlp({ what });

function writeResourceSpans(writer: ProtoWriter, entry: Json): void {
  writer.message(1, (message) =>
    writeAttributes(message, 1, jsonObject(entry['resource'], 'resource')['attributes']),
  );
  for (const scopeSpans of jsonEntries(entry['scopeSpans'], 'scopeSpans')) {
    writer.message(2, (message) =>
      writeScopeSpans(message, jsonObject(scopeSpans, 'an entry of scopeSpans')),
    );
  }
}

function writeScopeSpans(writer: ProtoWriter, entry: Json): void {
  const scope = jsonObject(entry['scope'], 'scope');
  writer.message(1, (message) => {
    writeText(message, 1, scope['name'], 'the name of a scope');
    writeText(message, 2, scope['version'], 'the version of a scope');
    writeAttributes(message, 3, scope['attributes']);
  });
  for (const span of jsonEntries(entry['spans'], 'spans')) {
    writer.message(2, (message) => writeSpan(message, jsonObject(span, 'a span')));
  }
}

function writeSpan(writer: ProtoWriter, span: Json): void {
  writeId(writer, 1, span['traceId'], 'traceId');
  writeId(writer, 2, span['spanId'], 'spanId');
  writeText(writer, 3, span['traceState'], 'traceState');
  writeId(writer, 4, span['parentSpanId'], 'parentSpanId');
  writeText(writer, 5, span['name'], 'the name of a span');
  writer.uint(6, enumOf(span['kind'], kinds, 'kind'));
  writeNanos(writer, 7, span['startTimeUnixNano'], 'startTimeUnixNano');
  writeNanos(writer, 8, span['endTimeUnixNano'], 'endTimeUnixNano');
  writeAttributes(writer, 9, span['attributes']);
  for (const entry of jsonArray(span['events'], 'events')) {
    const event = jsonObject(entry, 'an event');
    writer.message(11, (message) => {
      writeNanos(message, 1, event['timeUnixNano'], 'timeUnixNano');
      writeText(message, 2, event['name'], 'the name of an event');
      writeAttributes(message, 3, event['attributes']);
    });
  }
  for (const entry of jsonArray(span['links'], 'links')) {
    const link = jsonObject(entry, 'a link');
    writer.message(13, (message) => {
      writeId(message, 1, link['traceId'], 'traceId');
      writeId(message, 2, link['spanId'], 'spanId');
      writeText(message, 3, link['traceState'], 'traceState');
      writeAttributes(message, 4, link['attributes']);
    });
  }
  const status = jsonObject(span['status'], 'status');
  writer.message(15, (message) => {
    writeText(message, 2, status['message'], 'the message of a status');
    message.uint(3, enumOf(status['code'], statuses, 'the code of a status'));
  });
  writer.fixed32(16, jsonNumber(span['flags'], 'flags') >>> 0);
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map(
  (name) => `SPAN_KIND_${name}`,
);
const statuses = ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`);

/** The number, or its name as some senders write it. */
function enumOf(value: unknown, names: readonly string[], what: string): number {
  const number =
    typeof value === 'string' && names.includes(value)
      ? names.indexOf(value)
      : jsonNumber(value, what);
  return number >= 0 && number < names.length && Number.isInteger(number) ? number : 0;
}

function writeText(writer: ProtoWriter, field: number, value: unknown, what: string): void {
  const text = jsonText(value, what);
  if (text !== '') {
    writer.string(field, text);
  }
}

/**
 * Writes an id; omits an invalid one, so that the reader refuses the span rather than the whole
 * body.
 */
function writeId(writer: ProtoWriter, field: number, value: unknown, what: string): void {
  const text = jsonText(value, what);
  if (text !== '' && text.length % 2 === 0 && /^[0-9a-fA-F]{1,64}$/.test(text)) {
    writer.bytes(field, Buffer.from(text, 'hex'));
  }
}

function writeNanos(writer: ProtoWriter, field: number, value: unknown, what: string): void {
  const { ms, ns } = jsonNanos(value, what);
  writer.fixed64(field, BigInt.asUintN(64, BigInt(ms) * 1_000_000n + BigInt(ns)));
}

function writeAttributes(writer: ProtoWriter, field: number, json: unknown, depth = 0): void {
  for (const entry of jsonArray(json, 'attributes')) {
    const { key, value } = jsonObject(entry, 'an attribute');
    writer.message(field, (message) => {
      writeText(message, 1, key, 'the key of an attribute');
      message.message(2, (inner) => writeAny(inner, jsonObject(value, 'a value'), depth));
    });
  }
}

/** Whole numbers and others stay apart here, as they do in protobuf. */
function writeAny(writer: ProtoWriter, value: Json, depth: number): void {
  if (depth > deepest) {
    throw refused(`values are nested more than ${deepest} deep`);
  }
  if (value['stringValue'] !== undefined) {
    writer.string(1, jsonText(value['stringValue'], 'stringValue'));
  } else if (value['boolValue'] !== undefined) {
    writer.bool(2, jsonBoolean(value['boolValue']));
  } else if (value['intValue'] !== undefined) {
    writer.int64(3, jsonWholeNumber(value['intValue']));
  } else if (value['doubleValue'] !== undefined) {
    writer.double(4, jsonNumber(value['doubleValue'], 'doubleValue'));
  } else if (value['arrayValue'] !== undefined) {
    const { values } = jsonObject(value['arrayValue'], 'arrayValue');
    writer.message(5, (message) =>
      jsonArray(values, 'values').forEach((one) =>
        message.message(1, (inner) => writeAny(inner, jsonObject(one, 'a value'), depth + 1)),
      ),
    );
  } else if (value['kvlistValue'] !== undefined) {
    const { values } = jsonObject(value['kvlistValue'], 'kvlistValue');
    writer.message(6, (message) => writeAttributes(message, 1, values, depth + 1));
  } else if (value['bytesValue'] !== undefined) {
    writer.bytes(7, Buffer.from(jsonText(value['bytesValue'], 'bytesValue'), 'base64'));
  }
}
