export interface MetricsLimits {
  /** How much later than the newest of its series a sample may come. */
  readonly outOfOrderMs: number;
  /** How far ahead of the clock a sample may be. */
  readonly aheadMs: number;
  readonly maxSeries: number;
  /** What the labels of all series of the head may take together. */
  readonly maxLabelBytes: number;
  /** Memory for samples of the head; past it they go to a block early. */
  readonly headBytes: number;
  readonly cacheBytes: number;
  /** Of one push, unpacked. */
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
  headBytes: 640 * mebibyte,
  cacheBytes: 96 * mebibyte,
  maxPushBytes: 64 * mebibyte,
  maxAgeMs: 30 * 24 * 60 * minute,
  maxBytes: 20 * 1024 * mebibyte,
};
