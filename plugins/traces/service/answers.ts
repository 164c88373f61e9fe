import type { FoundTrace } from 'svc/contracts/traces';
import { queryError } from 'svc/query';
import { ProtoWriter } from 'svc/store';
import { transferred } from 'svc/thread';

import { valueText } from '../store/head/otlp-values.ts';
import { withWarnings } from '../store/read/answer-json.ts';
import { answerProto, noTrace, traceJson, tracesProto } from '../store/read/trace-json.ts';
import type { TraceInput, TracesMetrics } from '../thread/contract.ts';
import { type MetricsResult, type SearchResult, sightOf } from '../traceql/index.ts';
import type { TraceSpans } from '../traceql/spans/span.ts';
import { errors } from './errors.ts';
import { matchersOf, type Told } from './store-queries.ts';

/** Converts a trace to the form that other plugins get. */
export function foundTrace(trace: SearchResult['traces'][number]): FoundTrace {
  return {
    traceId: trace.traceId,
    rootService: trace.rootService,
    rootName: trace.rootName,
    startNanos: String(trace.startNs),
    durationMs: Math.floor(trace.durationNs / 1e6),
    matched: trace.spansets.reduce((sum, { matched }) => sum + matched, 0),
    spans: trace.spansets.flatMap(({ spans }) =>
      spans.map(({ span, attributes }) => ({
        spanId: span.id,
        name: span.name,
        startNanos: String(span.startNs),
        durationNanos: span.durationNs,
        attributes: recordOf(
          attributes.map(({ key, value }) => [
            key,
            value.type === 'int' || value.type === 'float' || value.type === 'bool'
              ? value.value
              : valueText(value),
          ]),
        ),
      })),
    ),
    services: recordOf([...trace.services]),
  };
}

export function matrixOf({
  answer: { times, series },
  warnings,
}: Told<MetricsResult>): TracesMetrics {
  const kept = series.map(({ labels, values }) => {
    const slots = [...values.keys()].filter((slot) => !Number.isNaN(values[slot]!));
    return {
      labels: recordOf(labels.map(({ key, value }) => [key, valueText(value)])),
      times: Float64Array.from(slots, (slot) => times[slot]!),
      values: Float64Array.from(slots, (slot) => values[slot]!),
    };
  });
  return {
    type: 'matrix',
    labels: kept.map(({ labels }) => labels),
    times: kept.map((one) => one.times),
    values: kept.map((one) => one.values),
    warnings,
  };
}

/** Keys are foreign: without a prototype, and `__proto__` is a key like any other. */
function recordOf<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  const record = Object.create(null) as Record<string, T>;
  for (const [key, value] of entries) {
    record[key] = value;
  }
  return record;
}

/** A trace id as people type it: hexadecimal, zeros at its front may be left out. */
export function traceIdOf(text: string): Uint8Array {
  const wrong = text.search(/[^0-9a-fA-F]/);
  if (wrong >= 0) {
    throw queryError(
      'bad_data',
      `trace IDs can only contain hex characters: invalid character '${String.fromCodePoint(text.codePointAt(wrong)!)}' at position ${wrong + 1}`,
    );
  }
  if (text.length > 32) {
    throw queryError('bad_data', "trace IDs can't be larger than 128 bits");
  }
  if (text === '') {
    throw queryError('bad_data', 'a trace ID is needed');
  }
  return Uint8Array.from(Buffer.from(text.padStart(32, '0'), 'hex'));
}

/**
 * Renders a trace of the store: what cannot be read is stated, and a trace that may be there is not
 * called absent.
 */
export function renderTold(
  { answer, warnings }: Told<TraceSpans | undefined>,
  input: TraceInput,
): Uint8Array | undefined {
  if (answer === undefined && warnings.length > 0) {
    throw errors.trace_unreadable({ warnings: warnings.join('; ') });
  }
  const rendered = renderTrace(answer, input);
  if (rendered === undefined || warnings.length === 0 || input.form === 'proto') {
    return rendered;
  }
  const bytes = Uint8Array.from(rendered);
  if (input.form !== 'proto2') {
    return moved(withWarnings(bytes, warnings));
  }
  const partial = new ProtoWriter()
    .uint(3, 1)
    .bytes(4, Buffer.from(warnings.join('; ')))
    .finish();
  return moved(Uint8Array.from(Buffer.concat([bytes, partial])));
}

/** Renders the part of a trace that the caller may see, in the requested format. */
export function renderTrace(
  trace: TraceSpans | undefined,
  { form, ...asked }: TraceInput,
): Uint8Array | undefined {
  const visible = trace === undefined ? undefined : sightOf(matchersOf(asked)).visible(trace);
  switch (form) {
    case 'v1':
      return visible && moved(traceJson(visible, form));
    case 'v2':
      return moved(
        visible === undefined ? Uint8Array.from(Buffer.from(noTrace)) : traceJson(visible, form),
      );
    case 'proto':
      return visible && moved(tracesProto([visible]));
    case 'proto2':
      return moved(visible === undefined ? new Uint8Array() : answerProto(tracesProto([visible])));
  }
}

/** Bytes that were made for the answer alone move to the caller. */
export const moved = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  transferred(bytes, [bytes]);
