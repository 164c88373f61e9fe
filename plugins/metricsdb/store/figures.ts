import type { SeriesBound } from './intake/series-bounds.ts';
import type { Cardinality } from './head/cardinality.ts';
import type { Holding } from './head/series-owners.ts';

/** Series of the head, and what makes them many. */
export interface HeadCardinality extends Cardinality {
  readonly series: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly senders: readonly Holding[];
}

/** Figures of the store, for its self metrics. */
export interface MetricsStats {
  readonly accepted: number;
  readonly rejected: number;
  readonly pushes: number;
  readonly cuts: number;
  readonly failedCuts: number;
  readonly compactions: number;
  /** Blocks that were thinned for long questions. */
  readonly rollups: number;
  readonly series: number;
  readonly seriesBounds: readonly SeriesBound[];
  readonly headBytes: number;
  readonly walBytes: number;
  readonly cachedBytes: number;
  readonly blocks: number;
  readonly blockBytes: number;
  readonly blockSamples: number;
  /** Times of the oldest and the newest sample; infinite without any. */
  readonly oldest: number;
  readonly newest: number;
  readonly damaged: number;
}
