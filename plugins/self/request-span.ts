import type { Ids, SelfRequest } from 'svc/sdk';

/** A request as OTLP in JSON writes it. */
export interface RequestSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: 2;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly object[];
  readonly status: object;
}

/** Source of all spans. */
export interface SpanSource {
  readonly version: string;
  readonly instance: string;
}

const parentForm = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

export const newTraceId = (ids: Ids): string => ids.uuid().replaceAll('-', '');

/** Returns the position of an id between 0 and 1; evenly distributed. */
export const shareOf = (traceId: string): number =>
  Number.parseInt(traceId.slice(-8), 16) / 2 ** 32;

/** Builds the span of a request, within the caller's trace if it states one. */
export function spanOf(request: SelfRequest, traceId: string, ids: Ids): RequestSpan {
  const { route, method, plugin, status, requestId, startedAt, durationMs, traceparent } = request;
  const [, callersTrace, parentSpanId] = parentForm.exec(traceparent ?? '') ?? [];
  return {
    traceId: callersTrace ?? traceId,
    spanId: newTraceId(ids).slice(-16),
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: route === 'unmatched' ? method : route,
    kind: 2,
    startTimeUnixNano: nanos(startedAt),
    endTimeUnixNano: nanos(startedAt + durationMs),
    attributes: [
      text('http.request.method', method),
      ...(route === 'unmatched' ? [] : [text('http.route', route.slice(route.indexOf(' ') + 1))]),
      { key: 'http.response.status_code', value: { intValue: String(status) } },
      text('svc.request_id', requestId),
      ...(plugin === undefined ? [] : [text('svc.plugin', plugin)]),
    ],
    status: status >= 500 ? { code: 2 } : {},
  };
}

export const exportOf = (
  spans: readonly RequestSpan[],
  { version, instance }: SpanSource,
): object => ({
  resourceSpans: [
    {
      resource: {
        attributes: [
          text('service.name', 'svc'),
          text('service.version', version),
          text('service.instance.id', instance),
          text('host.name', instance),
        ],
      },
      scopeSpans: [{ scope: { name: 'svc' }, spans }],
    },
  ],
});

const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });

const nanos = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n);
