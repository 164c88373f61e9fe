import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { TraceQueries } from 'svc/contracts/traces';
import type { SeenDevices } from 'svc/query';
import type { Handle } from 'svc/sdk';

import { errors } from './errors.ts';

/** Span reduced to what is judged. */
export interface Span {
  readonly trace: string;
  readonly span: string;
  readonly parent: string;
  readonly service: string;
  readonly name: string;
  /** Milliseconds. */
  readonly start: number;
  readonly ms: number;
  readonly failed: boolean;
  readonly device: string;
  /** Attributes with short values, of the span and its resource; none that tell how it ended. */
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface Traces {
  readonly spans: readonly Span[];
}

const mostTraces = 40;
const mostSpans = 4_000;
const atOnce = 8;

interface Attribute {
  readonly key: string;
  readonly value?: { readonly stringValue?: string; readonly intValue?: string | number };
}

interface OtlpTrace {
  readonly batches?: readonly OtlpBatch[];
  readonly resourceSpans?: readonly OtlpBatch[];
}

interface OtlpBatch {
  readonly resource?: { readonly attributes?: readonly Attribute[] };
  readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
}

interface OtlpSpan {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly startTimeUnixNano?: string | number;
  readonly endTimeUnixNano?: string | number;
  readonly status?: { readonly code?: string | number };
  readonly attributes?: readonly Attribute[];
}

/** Whole traces that a TraceQL query finds, span by span. */
export const traceSource = (traces: Handle<TraceQueries>, seen: SeenDevices): EvidenceSource => ({
  async ask({ query, window }: Question, signal: AbortSignal): Promise<Answer> {
    if (!traces.available) {
      throw errors.traces_away();
    }
    const store = traces.get();
    const options = { timeoutMs: 6_000, signal, ...(seen && { enforce: seen.enforce }) };
    const found = await store.search(
      query,
      { start: window.from, end: window.to },
      { limit: mostTraces, spansPerSpanSet: 1, ...options },
    );
    const ids = found.traces.map(({ traceId }) => traceId).toSorted();
    const spans: Span[] = [];
    for (let at = 0; at < ids.length && spans.length < mostSpans; at += atOnce) {
      const some = ids.slice(at, at + atOnce);
      const whole = await Promise.all(some.map((id) => store.trace(id, options)));
      whole.forEach((trace, index) =>
        spans.push(...spansOf(some[index]!, trace as OtlpTrace | undefined)),
      );
    }
    const value: Traces = {
      spans: spans
        .slice(0, mostSpans)
        .toSorted((a, b) => (a.trace + a.span < b.trace + b.span ? -1 : 1)),
    };
    const failing = new Set(value.spans.filter(({ failed }) => failed).map(({ trace }) => trace))
      .size;
    const services = [...new Set(value.spans.map(({ service }) => service))]
      .toSorted()
      .slice(0, 20);
    return {
      value,
      digest: { traces: ids.length, failing, spans: value.spans.length, services },
      trust: 'untrusted',
      truncated: found.partial || ids.length === mostTraces,
    };
  },
});

function spansOf(trace: string, { batches, resourceSpans }: OtlpTrace = {}): readonly Span[] {
  return (batches ?? resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const attribute = (key: string): string => {
      const value = resource?.attributes?.find((one) => one.key === key)?.value;
      return String(value?.stringValue ?? value?.intValue ?? '').slice(0, 200);
    };
    const shared = telling(resource?.attributes);
    const [service, device] = [attribute('service.name'), attribute('device_id')];
    return scopeSpans.flatMap(({ spans = [] }) =>
      spans.map(
        ({
          spanId,
          parentSpanId = '',
          name = '',
          startTimeUnixNano: from = 0,
          endTimeUnixNano: to = 0,
          status,
          attributes,
        }) => ({
          trace,
          span: spanId,
          parent: parentSpanId,
          service,
          device,
          name: name.slice(0, 200),
          start: Math.round(Number(from) / 1e6),
          ms: Number(BigInt(to) - BigInt(from)) / 1e6,
          failed: status?.code === 2 || status?.code === 'STATUS_CODE_ERROR',
          attributes: { ...shared, ...telling(attributes) },
        }),
      ),
    );
  });
}

const mostAttributes = 16;
const longestValue = 80;
/** Attributes that tell how a request ended, or that each request has for itself. */
const untelling =
  /status|error|exception|otel\.|message|stack|url\.full|http\.url|http\.target|url\.query|^thread\.|^code\.|^telemetry\.|^service\.name$|^device_id$|duration|elapsed|size|length|peer\.port|client\.port/;

function telling(attributes: readonly Attribute[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    attributes
      .filter(({ key }) => !untelling.test(key))
      .map(({ key, value }) => [key, String(value?.stringValue ?? value?.intValue ?? '')] as const)
      .filter(([, value]) => value !== '' && value.length <= longestValue)
      .slice(0, mostAttributes),
  );
}
