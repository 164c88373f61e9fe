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
  /** Whom a call went to, as its caller names it. */
  readonly peer?: Peer;
  /** Attributes with short values, of the span and its resource; none that tell how it ended. */
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface Peer {
  readonly name: string;
  readonly kind: 'service' | 'database' | 'remote';
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
  readonly kind?: number | string;
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
          kind,
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
          ...((kind === 3 || kind === 'SPAN_KIND_CLIENT') && peerOf(attributes)),
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

const peerKeys = ['peer.service', 'server.address', 'net.peer.name', 'db.name'] as const;
const address = /^\d{1,3}(?:\.\d{1,3}){3}$|:.*:|^localhost$/;
/** Names within one's own network, of which the first part is that of the thing. */
const inside = /^[^.]+$|\.(?:svc|local|internal|lan|cluster|consul)(?:\.|$)/;

function peerOf(attributes: readonly Attribute[] = []): { readonly peer?: Peer } {
  const valueOf = (wanted: string): string =>
    attributes.find(({ key }) => key === wanted)?.value?.stringValue ?? '';
  const said = peerKeys
    .map((key) =>
      valueOf(key)
        .replace(/:\d{1,5}$/, '')
        .slice(0, 200),
    )
    .find((value) => value !== '' && !address.test(value));
  if (said === undefined) {
    return {};
  }
  const isInside = inside.test(said);
  const isStore = (valueOf('db.system') || valueOf('db.system.name')) !== '';
  return {
    peer: {
      name: isInside ? said.split('.', 1)[0]! : said,
      kind: isStore ? 'database' : isInside ? 'service' : 'remote',
    },
  };
}

/** Adds what calls tell of those that leave no spans themselves: their time and their failures, as their callers see them. */
export function withCalled(spans: readonly Span[]): readonly (Span & { readonly called?: Peer })[] {
  const answered = new Set(spans.map(({ trace, parent }) => `${trace} ${parent}`));
  return spans.flatMap((span) =>
    span.peer === undefined || answered.has(`${span.trace} ${span.span}`)
      ? [span]
      : [
          span,
          {
            ...span,
            span: `${span.span} called`,
            parent: span.span,
            service: span.peer.name,
            device: '',
            called: span.peer,
          },
        ],
  );
}
