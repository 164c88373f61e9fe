/** A value as the sender gave it, or as a query computes it. Whole numbers beyond 2^53 keep their digits in `exact`. */
export type Value =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'int'; readonly value: number; readonly exact?: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'array'; readonly values: readonly Value[] }
  | { readonly type: 'map'; readonly entries: readonly Attribute[] }
  | { readonly type: 'bytes'; readonly value: Uint8Array }
  /** Nanoseconds. */
  | { readonly type: 'duration'; readonly value: number }
  | { readonly type: 'status'; readonly value: number }
  | { readonly type: 'kind'; readonly value: number }
  /**
   * Values of several events or links of one span: a comparison holds if it holds for one of them.
   */
  | { readonly type: 'each'; readonly values: readonly Value[] };

/** Keys are foreign: they are compared, never used as property names. */
export interface Attribute {
  readonly key: string;
  readonly value: Value;
}

export interface Scope {
  readonly name: string;
  readonly version: string;
  readonly attributes: readonly Attribute[];
}

export interface SpanEvent {
  readonly name: string;
  /** Nanoseconds from the start of the span; may be negative. */
  readonly sinceStart: number;
  readonly attributes: readonly Attribute[];
}

export interface SpanLink {
  /** Hexadecimal, as all ids here. */
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes: readonly Attribute[];
}

/** One span. Stores answer with objects that decode a field when it is asked for. */
export interface Span {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** The first and the last eight of them as numbers: those who look at millions make no text of each. */
  readonly idHigh: number;
  readonly idLow: number;
  /** Empty where the span is a root. */
  readonly parentId: string;
  readonly name: string;
  /** OTLP numbers: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** OTLP numbers: 0 unset, 1 ok, 2 error. */
  readonly status: number;
  readonly statusMessage: string;
  readonly traceState: string;
  readonly flags: number;
  readonly startNs: bigint;
  /** The same in milliseconds, to about a microsecond. */
  readonly startMs: number;
  readonly durationNs: number;
  readonly attributes: readonly Attribute[];
  /** The same array for all spans of one resource. */
  readonly resource: readonly Attribute[];
  readonly scope: Scope;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
}

export interface TraceSpans {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  readonly spans: readonly Span[];
}

export const kindNames = [
  'unspecified',
  'internal',
  'server',
  'client',
  'producer',
  'consumer',
] as const;
export const statusNames = ['unset', 'ok', 'error'] as const;

export const attribute = (attributes: readonly Attribute[], key: string): Value | undefined => {
  for (const entry of attributes) {
    if (entry.key === key) {
      return entry.value;
    }
  }
  return undefined;
};
