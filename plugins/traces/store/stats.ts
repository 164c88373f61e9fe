import type { BlockSet } from './blocks/block-set.ts';
import type { Head } from './head/head.ts';
import type { SpanMetrics } from './intake/span-metrics.ts';

export interface StoreStats {
  readonly headSpans: number;
  readonly headBytes: number;
  readonly blocks: number;
  readonly blockSpans: number;
  readonly blockBytes: number;
  /** Descriptions of what cannot be read. */
  readonly damage: readonly string[];
  readonly walBytes: number;
  /** Milliseconds; undefined while there is nothing in blocks. */
  readonly oldest: number | undefined;
  readonly residentBytes: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Spans that were taken without some of their parts. */
  readonly trimmed: number;
  readonly metricSeries: number;
  readonly metricSpansDropped: number;
}

export interface StatsParts {
  readonly blocks: BlockSet;
  readonly heads: readonly Head[];
  readonly walBytes: number;
  readonly totals: Pick<StoreStats, 'accepted' | 'rejected' | 'trimmed'>;
  readonly metrics: SpanMetrics;
}

export function statsOf({ blocks: set, heads, walBytes, totals, metrics }: StatsParts): StoreStats {
  const { blocks } = set;
  return {
    headSpans: heads.reduce((sum, head) => sum + head.rows, 0),
    headBytes: heads.reduce((sum, head) => sum + head.bytes, 0),
    blocks: blocks.length,
    blockSpans: blocks.reduce((sum, { row }) => sum + row.rows, 0),
    blockBytes: blocks.reduce((sum, { row }) => sum + row.bytes, 0),
    damage: set.damage.sentences(),
    walBytes,
    oldest:
      blocks.length === 0
        ? undefined
        : blocks.reduce((oldest, { row }) => Math.min(oldest, row.mint), Infinity),
    residentBytes: set.residentBytes,
    ...totals,
    metricSeries: metrics.series,
    metricSpansDropped: metrics.dropped,
  };
}
