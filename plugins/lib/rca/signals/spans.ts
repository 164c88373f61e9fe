import { within } from './grid.ts';
import type { Period, SpanAggregate } from './snapshot.ts';
import { madToDeviation, median, present, usualOf } from './statistics.ts';

/** Trouble of one node itself, according to traces, apart from what it waits for. */
export interface OwnShare {
  readonly evidence: string;
  readonly operation: string;
  /** Seconds by which it has become slower itself, and how unusual that is. */
  readonly slower: number;
  readonly deviation: number;
  /** Share of its spans in which an error begins, above the usual one. */
  readonly failing: number;
  /** Share of all failing traces that have such a span. */
  readonly origin: number;
}

/** The operation of a node that has changed most; undefined where there are too few spans to tell. */
export function ownShares(
  spans: readonly SpanAggregate[],
  baseline: Period,
  incident: Period,
): ReadonlyMap<string, OwnShare> {
  const best = new Map<string, OwnShare>();
  for (const span of spans) {
    const share = ownShare(span, baseline, incident);
    const other = best.get(span.node);
    if (share !== undefined && (other === undefined || weight(share) > weight(other))) {
      best.set(span.node, share);
    }
  }
  return best;
}

const weight = ({ deviation, origin }: OwnShare): number => Math.min(1, deviation / 20) + origin;

function ownShare(span: SpanAggregate, baseline: Period, incident: Period): OwnShare | undefined {
  const cut = (values: readonly (number | null)[], period: Period) =>
    present(within(values, span.from, span.bucket_ms, period));
  const sum = (values: readonly (number | null)[], period: Period) =>
    cut(values, period).reduce((total, value) => total + value, 0);
  const spansBefore = sum(span.spans, baseline);
  const spansDuring = sum(span.spans, incident);
  const failedDuring = sum(span.errors, incident);
  // Calls that nobody answers are there only since nobody does.
  const isNew = spansBefore === 0 && spansDuring >= 3 && failedDuring >= 0.8 * spansDuring;
  if (spansDuring < 3 || (spansBefore < 10 && !isNew)) {
    return undefined;
  }
  const usual = usualOf(cut(span.self_ms, baseline));
  const now = cut(span.self_ms, incident);
  const scale = Math.max(usual.mad * madToDeviation, 0.05 * usual.median, 1e-6);
  const slower = usual.count < 4 || now.length === 0 ? 0 : median(now) - usual.median;
  const failing =
    sum(span.origins, incident) / spansDuring -
    sum(span.origins, baseline) / Math.max(1, spansBefore);
  const failed = sum(span.failing, incident);
  const origin =
    failed === 0 || failing <= 0 ? 0 : Math.min(1, sum(span.failing_here, incident) / failed);
  return {
    evidence: span.evidence,
    operation: span.operation,
    slower: Math.max(0, slower) / 1_000,
    deviation: Math.max(0, slower) / scale,
    failing: Math.max(0, failing),
    origin,
  };
}
