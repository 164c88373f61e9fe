/**
 * Limits of a span, a trace and a store; whatever exceeds them is counted, and reported in the
 * answer to the push.
 */
export interface TraceLimits {
  /** Max size of one span as sent; a larger one is refused. */
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
  /** Max time by which a span may start in the future. */
  readonly futureMs: number;
  /** Max unpacked size of a body. */
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

/** Number of spans that share dictionaries within a block. */
export const groupSpans = 2_048;
