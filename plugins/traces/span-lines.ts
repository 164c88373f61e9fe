/** Span at a glance. */
export interface SpanLine {
  readonly span_id: string;
  readonly parent_id: string | null;
  readonly service: string;
  readonly name: string;
  /** Offset from the start of the trace. */
  readonly offset_ms: number;
  readonly duration_ms: number;
  readonly error: boolean;
  readonly status: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Otlp {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly Attribute[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly Span[] }[];
  }[];
}

interface Span {
  readonly spanId?: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  readonly status?: { readonly code?: number | string; readonly message?: string };
  readonly attributes?: readonly Attribute[];
}

interface Attribute {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

const maxAttributes = 12;
const longestValue = 200;

/** The spans of a trace in OTLP JSON, in the order of their beginnings. */
export function spanLines(trace: unknown): readonly SpanLine[] {
  const spans = ((trace as Otlp).resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const service = valueOf(resource?.attributes?.find(({ key }) => key === 'service.name'));
    return scopeSpans.flatMap(({ spans: inner = [] }) =>
      inner.map((span) => ({ service: typeof service === 'string' ? service : 'unknown', span })),
    );
  });
  const begun = spans.reduce(
    (first, { span }) =>
      nanos(span.startTimeUnixNano) < first ? nanos(span.startTimeUnixNano) : first,
    nanos(spans[0]?.span.startTimeUnixNano),
  );
  return spans
    .map(({ service, span }) => lineOf(service, span, begun))
    .toSorted((a, b) => a.offset_ms - b.offset_ms);
}

function lineOf(service: string, span: Span, begun: bigint): SpanLine {
  const [start, end] = [nanos(span.startTimeUnixNano), nanos(span.endTimeUnixNano)];
  const code = span.status?.code;
  return {
    span_id: span.spanId ?? '',
    parent_id: span.parentSpanId || null,
    service,
    name: span.name ?? '',
    offset_ms: milliseconds(start - begun),
    duration_ms: milliseconds(end - start),
    error: code === 2 || code === 'STATUS_CODE_ERROR',
    status: span.status?.message || null,
    attributes: Object.fromEntries(
      (span.attributes ?? [])
        .slice(0, maxAttributes)
        .map((attribute) => [attribute.key, valueOf(attribute)]),
    ),
  };
}

const nanos = (text: string | undefined): bigint => BigInt(text ?? 0);
const milliseconds = (span: bigint): number => Number(span / 1_000n) / 1_000;

function valueOf(attribute: Attribute | undefined): unknown {
  const [value] = Object.values(attribute?.value ?? {});
  return typeof value === 'string'
    ? value.slice(0, longestValue)
    : typeof value === 'object'
      ? JSON.stringify(value).slice(0, longestValue)
      : value;
}
