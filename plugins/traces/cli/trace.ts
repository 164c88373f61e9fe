import {
  type Command,
  clientOptions,
  openClient,
  type Branch,
  printable,
  table,
  tree,
  spanOf,
} from 'svc/cli';

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Span {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: string | number; readonly message?: string };
  readonly attributes?: readonly Attribute[];
}

interface Trace {
  readonly batches: readonly {
    readonly resource?: { readonly attributes?: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

interface Found {
  readonly traces?: readonly {
    readonly traceID: string;
    readonly rootServiceName?: string;
    readonly rootTraceName?: string;
    readonly startTimeUnixNano: string;
    readonly durationMs?: number;
  }[];
}

const maxSpans = 2_000;

export const command: Command = {
  operands: ['[trace]'],
  options: {
    last: { value: 'time', about: 'how far back to search, such as 15m or 1d; default: 1h' },
    limit: { value: 'count', about: 'maximum number of traces; default: 20' },
    ...clientOptions,
  },
  about:
    'Takes a trace id, or a TraceQL query to find traces; without an argument, lists the newest traces.',
  example: `svc trace '{ status = error && duration > 1s }'`,

  async run(call, shell) {
    const asked = call.optionalOperand(0) ?? '{}';
    const client = await openClient(call, shell);
    if (/^[0-9a-f]{8,32}$/i.test(asked)) {
      const trace = await client.get<Trace>(`/api/v1/traces/${asked}`);
      return { data: trace, text: () => drawn(trace) };
    }
    const now = Math.floor(Date.now() / 1_000);
    const query = new URLSearchParams({
      q: asked,
      limit: call.value('limit') ?? '20',
      end: String(now),
    });
    query.set(
      'start',
      String(now - Math.round(spanOf('last', call.value('last') ?? '1h') / 1_000)),
    );
    const found = await client.get<Found>(`/api/v1/traces/search?${query.toString()}`, 60_000);
    return { data: found, text: () => listed(found) };
  },
};

function listed({ traces = [] }: Found): string {
  if (traces.length === 0) {
    return 'No matching traces in this time; --last looks further back';
  }
  const rows = traces.map(
    ({ traceID, rootServiceName = '', rootTraceName = '', startTimeUnixNano, durationMs }) => [
      traceID,
      new Date(Number(BigInt(startTimeUnixNano) / 1_000_000n)).toISOString(),
      durationMs === undefined ? '< 1 ms' : `${durationMs} ms`,
      printable(rootServiceName),
      printable(rootTraceName),
    ],
  );
  return table([['TRACE', 'AT', 'TOOK', 'SERVICE', 'ROOT'], ...rows]);
}

/** Spans below those that called them, each with when it began and how long it took. */
function drawn({ batches }: Trace): string {
  const spans = batches
    .flatMap(({ resource, scopeSpans }) => {
      const service = textIn(resource?.attributes ?? [], 'service.name');
      return scopeSpans.flatMap((scope) =>
        scope.spans.map((span) => ({ ...span, service, start: BigInt(span.startTimeUnixNano) })),
      );
    })
    .toSorted((a, b) => (a.start < b.start ? -1 : 1))
    .slice(0, maxSpans);
  const began = spans[0]?.start ?? 0n;
  const known = new Set(spans.map(({ spanId }) => spanId));
  const children = grouped(spans, known);
  const seen = new Set<string>();
  const branch = (span: (typeof spans)[number]): Branch => {
    seen.add(span.spanId);
    const took = Number(BigInt(span.endTimeUnixNano) - span.start) / 1e6;
    const failed = span.status?.code === 2 || span.status?.code === 'STATUS_CODE_ERROR';
    const label = `${span.service} ${span.name}  +${milliseconds(Number(span.start - began) / 1e6)}  ${milliseconds(took)}${failed ? '  ERROR' : ''}`;
    return {
      label,
      children: (children.get(span.spanId) ?? [])
        .filter(({ spanId }) => !seen.has(spanId))
        .map(branch),
    };
  };
  return (children.get('') ?? []).map((root) => tree(branch(root))).join('\n');
}

/** Groups spans by parent; those without a known one are under the empty text. */
function grouped<T extends { readonly spanId: string; readonly parentSpanId?: string }>(
  spans: readonly T[],
  known: ReadonlySet<string>,
): ReadonlyMap<string, readonly T[]> {
  const children = new Map<string, T[]>();
  for (const span of spans) {
    const parent =
      span.parentSpanId !== undefined &&
      span.parentSpanId !== span.spanId &&
      known.has(span.parentSpanId)
        ? span.parentSpanId
        : '';
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  return children;
}

const milliseconds = (ms: number): string => `${ms >= 100 ? ms.toFixed(0) : ms.toFixed(2)} ms`;

const textIn = (attributes: readonly Attribute[], key: string): string => {
  const text = attributes.find((attribute) => attribute.key === key)?.value['stringValue'];
  return typeof text === 'string' ? text : '';
};
