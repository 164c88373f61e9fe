import type {
  Prefilter,
  SearchWindow,
  SpanSource,
  TraceBatch,
} from '../../../plugins/traces/traceql/spans/source.ts';
import type {
  Attribute,
  Span,
  SpanEvent,
  SpanLink,
  TraceSpans,
  Value,
} from '../../../plugins/traces/traceql/spans/span.ts';

type Plain = string | number | boolean | readonly Plain[];

/** A span as tests describe it; what is left out has an ordinary value. */
export interface Sketch {
  readonly id: string;
  readonly parent?: string;
  readonly name?: string;
  readonly kind?: number;
  readonly status?: number;
  readonly statusMessage?: string;
  /** Milliseconds after the start of all things in this test. */
  readonly at?: number;
  readonly ms?: number;
  readonly service?: string;
  readonly attributes?: Readonly<Record<string, Plain>>;
  readonly resource?: Readonly<Record<string, Plain>>;
  readonly events?: readonly {
    readonly name: string;
    readonly sinceMs?: number;
    readonly attributes?: Readonly<Record<string, Plain>>;
  }[];
  readonly links?: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes?: Readonly<Record<string, Plain>>;
  }[];
  readonly scope?: {
    readonly name: string;
    readonly version: string;
    readonly attributes?: Readonly<Record<string, Plain>>;
  };
}

export const epochMs = 1_795_200_000_000;

const valueOf = (plain: Plain): Value =>
  typeof plain === 'string'
    ? { type: 'string', value: plain }
    : typeof plain === 'boolean'
      ? { type: 'bool', value: plain }
      : typeof plain === 'number'
        ? { type: Number.isInteger(plain) ? 'int' : 'float', value: plain }
        : { type: 'array', values: plain.map(valueOf) };

const listOf = (record: Readonly<Record<string, Plain>> = {}): readonly Attribute[] =>
  Object.entries(record).map(([key, value]) => ({ key, value: valueOf(value) }));

export function spanOf(sketch: Sketch): Span {
  const startMs = epochMs + (sketch.at ?? 0);
  // Ids of tests are short words.
  const idBytes = Buffer.from(sketch.id.padStart(8));
  return {
    id: sketch.id,
    idHigh: idBytes.readUInt32BE(idBytes.length - 8),
    idLow: idBytes.readUInt32BE(idBytes.length - 4),
    parentId: sketch.parent ?? '',
    name: sketch.name ?? sketch.id,
    kind: sketch.kind ?? 1,
    status: sketch.status ?? 0,
    statusMessage: sketch.statusMessage ?? '',
    traceState: '',
    flags: 0,
    startMs,
    startNs: BigInt(startMs) * 1_000_000n,
    durationNs: (sketch.ms ?? 10) * 1e6,
    attributes: listOf(sketch.attributes),
    resource: listOf({
      ...(sketch.service !== undefined && { 'service.name': sketch.service }),
      ...sketch.resource,
    }),
    scope: {
      name: sketch.scope?.name ?? '',
      version: sketch.scope?.version ?? '',
      attributes: listOf(sketch.scope?.attributes),
    },
    events: (sketch.events ?? []).map((event): SpanEvent => ({
      name: event.name,
      sinceStart: (event.sinceMs ?? 0) * 1e6,
      attributes: listOf(event.attributes),
    })),
    links: (sketch.links ?? []).map((link): SpanLink => ({
      traceId: link.traceId,
      spanId: link.spanId,
      traceState: '',
      attributes: listOf(link.attributes),
    })),
  };
}

export const traceOf = (traceId: string, ...sketches: readonly Sketch[]): TraceSpans => ({
  traceId,
  spans: sketches.map(spanOf),
});

/** The simplest source there can be: all traces in one batch, whatever the hints say. */
export function memorySource(
  ...traces: readonly TraceSpans[]
): SpanSource & { readonly asked: Prefilter[] } {
  const asked: Prefilter[] = [];
  return {
    asked,
    async *traces(
      { startMs, endMs }: SearchWindow,
      prefilter: Prefilter,
    ): AsyncIterable<TraceBatch> {
      asked.push(prefilter);
      yield {
        traces: traces.filter(({ spans }) =>
          spans.some(
            (span) => span.startMs <= endMs && span.startMs + span.durationNs / 1e6 >= startMs,
          ),
        ),
        newestLeft: -Infinity,
        share: 1,
      };
    },
  };
}
