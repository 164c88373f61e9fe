/** Limits of a push; the texts of refusals name them. */
export interface LogLimits {
  /** Max labels from the sender; those that this service adds do not count. */
  readonly labelNames: number;
  readonly labelNameBytes: number;
  readonly labelValueBytes: number;
  readonly lineBytes: number;
  readonly metadataEntries: number;
  readonly metadataBytes: number;
  /** Streams that have lines which are in no block yet. */
  readonly activeStreams: number;
  /** Max streams of any age: all of them are held in memory. */
  readonly knownStreams: number;
  /** Max share of one sender in either, in percent of what the others leave; 100: unlimited. */
  readonly senderShare: number;
  readonly futureMs: number;
  /** Lines older than this are refused; 0 takes lines of any age. */
  readonly olderMs: number;
  readonly inflatedBytes: number;
  /** Pushes that wait for the disk, all together. */
  readonly pendingBytes: number;
}

export const usualLimits: LogLimits = {
  labelNames: 15,
  labelNameBytes: 1_024,
  labelValueBytes: 2_048,
  lineBytes: 256 * 1024,
  metadataEntries: 128,
  metadataBytes: 64 * 1024,
  activeStreams: 5_000,
  knownStreams: 100_000,
  senderShare: 80,
  futureMs: 10 * 60_000,
  olderMs: 0,
  inflatedBytes: 64 * 1024 * 1024,
  pendingBytes: 256 * 1024 * 1024,
};

/** When lines leave memory. */
export interface CutLimits {
  readonly chunkBytes: number;
  readonly idleMs: number;
  readonly oldestMs: number;
  /** Size at which a block is written; below, the time that its first bytes may wait. */
  readonly blockBytes: number;
  readonly blockMs: number;
  /** Memory of heads and unwritten chunks beyond which they are written early. */
  readonly memoryBytes: number;
  readonly walBytes: number;
  /** Size of one file of the log. */
  readonly segmentBytes: number;
  /**
   * Size of the log beyond what is in memory, above which streams that pin its oldest files are
   * written early.
   */
  readonly slackBytes: number;
}

export const usualCuts: CutLimits = {
  chunkBytes: 256 * 1024,
  idleMs: 5 * 60_000,
  oldestMs: 2 * 60 * 60_000,
  blockBytes: 32 * 1024 * 1024,
  blockMs: 15 * 60_000,
  memoryBytes: 128 * 1024 * 1024,
  walBytes: 512 * 1024 * 1024,
  segmentBytes: 32 * 1024 * 1024,
  slackBytes: 32 * 1024 * 1024,
};
