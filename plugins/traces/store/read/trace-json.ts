import { JsonBytes } from 'svc/query';
import { ProtoWriter } from 'svc/store';

import { keyOf } from '../../traceql/search/values.ts';
import type { Attribute, Scope, Span, TraceSpans } from '../../traceql/spans/span.ts';
import { attributesJson, writeKeyValue } from '../head/otlp-values.ts';

/** Spans of one resource, by what made them. */
interface Batch {
  readonly resource: readonly Attribute[];
  readonly scopes: readonly { readonly scope: Scope; readonly spans: readonly Owned[] }[];
}

interface Owned {
  readonly traceId: string;
  readonly span: Span;
}

/** One trace as OTLP in JSON, as the interface answers it: ids in base64, numbers of 64 bits as text. */
export function traceJson(trace: TraceSpans, form: 'v1' | 'v2'): Uint8Array<ArrayBuffer> {
  const json = new JsonBytes(trace.spans.length * 512 + 1024);
  json.raw(form === 'v1' ? '{"batches":[' : '{"trace":{"resourceSpans":[');
  batchesOf([trace]).forEach((batch, index) => {
    json.raw(index === 0 ? '{"resource":{"attributes":' : ',{"resource":{"attributes":');
    attributesJson(json, batch.resource);
    json.raw('},"scopeSpans":[');
    batch.scopes.forEach(({ scope, spans }, at) => {
      json.raw(at === 0 ? '{"scope":' : ',{"scope":');
      scopeJson(json, scope);
      json.raw(',"spans":[');
      spans.forEach(({ traceId, span }, place) => {
        json.raw(place === 0 ? '' : ',');
        spanJson(json, traceId, span);
      });
      json.raw(']}');
    });
    json.raw(']}');
  });
  return json.raw(form === 'v1' ? ']}' : ']},"metrics":{}}').finish();
}

export const noTrace = '{"trace":{},"metrics":{}}';

function batchesOf(traces: readonly TraceSpans[]): Batch[] {
  const batches = new Map<
    string,
    { resource: readonly Attribute[]; scopes: Map<string, { scope: Scope; spans: Owned[] }> }
  >();
  const keys = new Map<object, string>();
  const textOf = (
    part: object,
    attributes: readonly Attribute[],
    head: readonly string[],
  ): string => {
    let key = keys.get(part);
    if (key === undefined) {
      keys.set(
        part,
        (key = JSON.stringify([head, attributes.map((entry) => [entry.key, keyOf(entry.value)])])),
      );
    }
    return key;
  };
  for (const owned of traces.flatMap(({ traceId, spans }) =>
    spans.map((span): Owned => ({ traceId, span })),
  )) {
    const { resource, scope } = owned.span;
    const key = textOf(resource, resource, []);
    const batch = batches.get(key) ?? {
      resource,
      scopes: new Map<string, { scope: Scope; spans: Owned[] }>(),
    };
    batches.set(key, batch);
    const scopeKey = textOf(scope, scope.attributes, [scope.name, scope.version]);
    const entry = batch.scopes.get(scopeKey) ?? { scope, spans: [] };
    batch.scopes.set(scopeKey, entry);
    entry.spans.push(owned);
  }
  return Array.from(batches.values(), ({ resource, scopes }) => ({
    resource,
    scopes: [...scopes.values()],
  }));
}

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

function scopeJson(json: JsonBytes, { name, version, attributes }: Scope): void {
  const parts: (() => void)[] = [];
  if (name !== '') {
    parts.push(() => json.raw('"name":').string(name));
  }
  if (version !== '') {
    parts.push(() => json.raw('"version":').string(version));
  }
  if (attributes.length > 0) {
    parts.push(() => {
      json.raw('"attributes":');
      attributesJson(json, attributes);
    });
  }
  json.raw('{');
  parts.forEach((part, index) => {
    json.raw(index === 0 ? '' : ',');
    part();
  });
  json.raw('}');
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map(
  (kind) => `SPAN_KIND_${kind}`,
);
const statuses = ['UNSET', 'OK', 'ERROR'].map((status) => `STATUS_CODE_${status}`);

function spanJson(json: JsonBytes, traceId: string, span: Span): void {
  json.raw(`{"traceId":"${base64(traceId)}","spanId":"${base64(span.id)}"`);
  if (span.traceState !== '') {
    json.raw(',"traceState":').string(span.traceState);
  }
  if (span.parentId !== '') {
    json.raw(`,"parentSpanId":"${base64(span.parentId)}"`);
  }
  if (span.flags !== 0) {
    json.raw(`,"flags":${span.flags}`);
  }
  const { startNs } = span;
  json.raw(',"name":').string(span.name);
  if (span.kind !== 0) {
    json.raw(`,"kind":"${kinds[span.kind]!}"`);
  }
  json.raw(
    `,"startTimeUnixNano":"${startNs}","endTimeUnixNano":"${startNs + BigInt(span.durationNs)}"`,
  );
  if (span.attributes.length > 0) {
    json.raw(',"attributes":');
    attributesJson(json, span.attributes);
  }
  if (span.events.length > 0) {
    json.raw(',"events":[');
    span.events.forEach((event, index) => {
      json
        .raw(
          `${index === 0 ? '' : ','}{"timeUnixNano":"${startNs + BigInt(Math.trunc(event.sinceStart))}","name":`,
        )
        .string(event.name);
      if (event.attributes.length > 0) {
        json.raw(',"attributes":');
        attributesJson(json, event.attributes);
      }
      json.raw('}');
    });
    json.raw(']');
  }
  if (span.links.length > 0) {
    json.raw(',"links":[');
    span.links.forEach((link, index) => {
      json.raw(
        `${index === 0 ? '' : ','}{"traceId":"${base64(link.traceId)}","spanId":"${base64(link.spanId)}"`,
      );
      if (link.traceState !== '') {
        json.raw(',"traceState":').string(link.traceState);
      }
      if (link.attributes.length > 0) {
        json.raw(',"attributes":');
        attributesJson(json, link.attributes);
      }
      json.raw('}');
    });
    json.raw(']');
  }
  json.raw(',"status":{');
  if (span.statusMessage !== '') {
    json.raw('"message":').string(span.statusMessage);
  }
  if (span.status !== 0) {
    json.raw(`${span.statusMessage === '' ? '' : ','}"code":"${statuses[span.status]!}"`);
  }
  json.raw('}}');
}

/** Encodes traces as protobuf: TracesData, whose only field is also that of a request. */
export function tracesProto(traces: readonly TraceSpans[]): Uint8Array<ArrayBuffer> {
  const writer = new ProtoWriter(traces.reduce((sum, { spans }) => sum + spans.length * 256, 256));
  for (const batch of batchesOf(traces)) {
    writer.message(1, (resourceSpans) => {
      resourceSpans.message(1, (resource) => writeAttributes(resource, 1, batch.resource));
      for (const { scope, spans } of batch.scopes) {
        resourceSpans.message(2, (scopeSpans) => {
          scopeSpans.message(1, (message) => {
            message.string(1, scope.name).string(2, scope.version);
            writeAttributes(message, 3, scope.attributes);
          });
          spans.forEach(({ traceId, span }) =>
            scopeSpans.message(2, (message) => writeSpan(message, traceId, span)),
          );
        });
      }
    });
  }
  return Uint8Array.from(writer.finish());
}

/** Wraps a trace as version 2 does. */
export const answerProto = (trace: Uint8Array): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(new ProtoWriter(trace.length + 16).bytes(1, trace).finish());

function writeAttributes(
  writer: ProtoWriter,
  field: number,
  attributes: readonly Attribute[],
): void {
  attributes.forEach((entry) => writer.message(field, (message) => writeKeyValue(message, entry)));
}

function writeSpan(writer: ProtoWriter, traceId: string, span: Span): void {
  const { startNs } = span;
  writer.bytes(1, Buffer.from(traceId, 'hex')).bytes(2, Buffer.from(span.id, 'hex'));
  if (span.traceState !== '') {
    writer.string(3, span.traceState);
  }
  if (span.parentId !== '') {
    writer.bytes(4, Buffer.from(span.parentId, 'hex'));
  }
  writer
    .string(5, span.name)
    .uint(6, span.kind)
    .fixed64(7, startNs)
    .fixed64(8, startNs + BigInt(span.durationNs));
  writeAttributes(writer, 9, span.attributes);
  for (const event of span.events) {
    writer.message(11, (message) => {
      message
        .fixed64(1, BigInt.asUintN(64, startNs + BigInt(Math.trunc(event.sinceStart))))
        .string(2, event.name);
      writeAttributes(message, 3, event.attributes);
    });
  }
  for (const link of span.links) {
    writer.message(13, (message) => {
      message
        .bytes(1, Buffer.from(link.traceId, 'hex'))
        .bytes(2, Buffer.from(link.spanId, 'hex'))
        .string(3, link.traceState);
      writeAttributes(message, 4, link.attributes);
    });
  }
  writer.message(15, (message) => message.string(2, span.statusMessage).uint(3, span.status));
  writer.fixed32(16, span.flags);
}
