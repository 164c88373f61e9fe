/** What one span, one trace and one store may come to; the rest is counted, and said in the answer of the push. */
export interface TraceLimits {
  /** Of one span as it was sent; a larger one is refused. */
  readonly spanBytes: number;
  readonly attributes: number;
  readonly keyLength: number;
  /** Longer texts are cut. */
  readonly valueLength: number;
  readonly nameLength: number;
  readonly events: number;
  readonly links: number;
  /** Spans of one trace that a head takes. */
  readonly traceSpans: number;
  /** How far ahead of this clock a span may start. */
  readonly futureMs: number;
  /** Of a body, unpacked. */
  readonly bodyBytes: number;
  /** Spans that make a head a block. */
  readonly headSpans: number;
  readonly headBytes: number;
  /** A head of this age becomes a block when it has enough spans for a good one. */
  readonly headAgeMs: number;
  /** The same whatever it holds. */
  readonly headMaxAgeMs: number;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Series of span metrics, all buckets counted; none at all: 0. */
  readonly metricSeries: number;
}

const day = 86_400_000;

export const defaultLimits: TraceLimits = {
  spanBytes: 512 * 1024,
  attributes: 128,
  keyLength: 256,
  valueLength: 16 * 1024,
  nameLength: 1024,
  events: 128,
  links: 128,
  traceSpans: 50_000,
  futureMs: day,
  bodyBytes: 64 * 1024 * 1024,
  headSpans: 65_536,
  headBytes: 128 * 1024 * 1024,
  headAgeMs: 120_000,
  headMaxAgeMs: 3_600_000,
  maxAgeMs: 7 * day,
  maxBytes: 10 * 1024 ** 3,
  metricSeries: 20_000,
};

/** As many spans share their dictionaries within a block. */
export const groupSpans = 2_048;
