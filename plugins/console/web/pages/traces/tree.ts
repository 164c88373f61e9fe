/** A trace as the store answers it: OTLP as JSON, ids in base64. */
export interface TraceAnswer {
  readonly batches: readonly {
    readonly resource?: { readonly attributes?: readonly Attribute[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly RawSpan[] }[];
  }[];
}

interface Attribute {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

interface RawSpan {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  readonly attributes?: readonly Attribute[];
  readonly status?: { readonly code?: string | number; readonly message?: string };
}

/** Times in milliseconds; `offset` counts from the beginning of the trace. */
export interface Span {
  readonly id: string;
  /** Id of the span above it; undefined for a root. */
  readonly parent: string | undefined;
  readonly name: string;
  readonly service: string;
  /** Host that sent it, if an agent did. */
  readonly device: string | undefined;
  /** Caller of the span above it; undefined for a root. */
  readonly calledBy: string | undefined;
  readonly kind: string;
  readonly depth: number;
  readonly offset: number;
  readonly length: number;
  readonly hasFailed: boolean;
  readonly message: string;
  readonly attributes: readonly (readonly [string, string])[];
}

export interface Trace {
  /** A parent before its children, siblings by their time. */
  readonly spans: readonly Span[];
  readonly services: readonly string[];
  readonly start: number;
  readonly length: number;
}

/**
 * Builds a tree of spans; one whose parent is missing is a root, and a cycle is cut where it
 * closes.
 */
export function treeOf({ batches }: TraceAnswer): Trace {
  const all = batches.flatMap(({ resource, scopeSpans = [] }) => {
    const told = (name: string): string =>
      textOf(resource?.attributes?.find(({ key }) => key === name)?.value);
    const service = told('service.name') || 'unknown';
    const device = told('device_id') || undefined;
    return scopeSpans.flatMap(({ spans = [] }) =>
      spans.map((span) => ({ ...span, service, device })),
    );
  });
  const instant = (nanos: string | undefined): number =>
    Number(BigInt(nanos ?? 0) / 1_000n) / 1_000;
  const start = Math.min(...all.map((span) => instant(span.startTimeUnixNano)));
  const end = Math.max(...all.map((span) => instant(span.endTimeUnixNano)));
  const known = new Set(all.map(({ spanId }) => spanId));
  const children = new Map<string, (typeof all)[number][]>();
  for (const span of all.toSorted(
    (a, b) => instant(a.startTimeUnixNano) - instant(b.startTimeUnixNano),
  )) {
    const parent =
      span.parentSpanId !== undefined &&
      known.has(span.parentSpanId) &&
      span.parentSpanId !== span.spanId
        ? span.parentSpanId
        : '';
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  const spans: Span[] = [];
  const seen = new Set<string>();
  const add = (span: (typeof all)[number], depth: number, above?: (typeof all)[number]): void => {
    if (seen.has(span.spanId)) {
      return;
    }
    seen.add(span.spanId);
    const from = instant(span.startTimeUnixNano);
    spans.push({
      id: span.spanId,
      parent: above?.spanId,
      name: span.name ?? '',
      service: span.service,
      device: span.device,
      calledBy: above?.service,
      kind: (span.kind ?? '').replace('SPAN_KIND_', '').toLowerCase(),
      depth,
      offset: from - start,
      length: Math.max(0, instant(span.endTimeUnixNano) - from),
      hasFailed: span.status?.code === 'STATUS_CODE_ERROR' || span.status?.code === 2,
      message: span.status?.message ?? '',
      attributes: (span.attributes ?? []).map(({ key, value }) => [key, textOf(value)] as const),
    });
    children.get(span.spanId)?.forEach((child) => add(child, depth + 1, span));
  };
  children.get('')?.forEach((span) => add(span, 0));
  // Those of a circle have no top to be reached from.
  all.forEach((span) => add(span, 0));
  return {
    spans,
    services: [...new Set(spans.map(({ service }) => service))],
    start,
    length: Math.max(0, end - start),
  };
}

function textOf(value: Attribute['value']): string {
  const [first = ''] = Object.values(value ?? {});
  return typeof first === 'string' ? first : JSON.stringify(first);
}
