const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export const writers = [0, 1, 2, 3, 4, 5];

/** Small, so that chunks and blocks are cut all the time. */
export const crashOptions = {
  log: quiet,
  now: () => Date.now(),
  cuts: {
    chunkBytes: 8_000,
    idleMs: 200,
    blockBytes: 60_000,
    blockMs: 300,
    memoryBytes: 200_000,
    walBytes: 2_000_000,
    segmentBytes: 50_000,
    slackBytes: 50_000,
  },
  disk: { minFreeBytes: 0, minFreeShare: 0 },
} as const;

const firstMs = 1_795_190_000_000;

/** Times go back and forth, so that chunks overlap. */
export function lineOf(writer: number, push: number, line: number): [string, string] {
  const ms = firstMs + (push ^ 5) * 3 + line;
  return [
    `${ms}000000`,
    `writer ${writer} push ${push} line ${line} ${'x'.repeat((push * 7) % 90)}`,
  ];
}
