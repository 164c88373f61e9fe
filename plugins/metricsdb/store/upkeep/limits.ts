export interface MetricsLimits {
  /** Max lag of a sample behind the newest one of its series. */
  readonly outOfOrderMs: number;
  /** Max time of a sample ahead of the clock. */
  readonly aheadMs: number;
  readonly maxSeries: number;
  /** Max size of the labels of all series in the head together. */
  readonly maxLabelBytes: number;
  /** Max share of one sender, in percent of the series that the others leave; 100: unlimited. */
  readonly senderShare: number;
  /** Max share of one metric of one sender, likewise. */
  readonly metricShare: number;
  /** Memory for samples of the head; past it they go to a block early. */
  readonly headBytes: number;
  readonly cacheBytes: number;
  /** Max size of one push, unpacked. */
  readonly maxPushBytes: number;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

const minute = 60_000;
const mebibyte = 1_048_576;

export const defaultLimits: MetricsLimits = {
  outOfOrderMs: 10 * minute,
  aheadMs: 10 * minute,
  maxSeries: 250_000,
  maxLabelBytes: 256 * mebibyte,
  senderShare: 80,
  metricShare: 60,
  headBytes: 640 * mebibyte,
  cacheBytes: 96 * mebibyte,
  maxPushBytes: 64 * mebibyte,
  maxAgeMs: 30 * 24 * 60 * minute,
  maxBytes: 20 * 1024 * mebibyte,
};
