/** Feedback on a report: its confidence, and how right it was, where "partly" is a half. */
export interface Label {
  readonly value: number;
  readonly right: number;
}

/** Confidences as computed, with how often such reports were right; ascending in both. */
export interface Calibration {
  readonly labels: number;
  readonly points: readonly { readonly value: number; readonly right: number }[];
}

/** Below this many answers a curve would follow single people. */
export const enoughLabels = 30;

/** A curve that never falls, as near to the answers as such a curve can be; undefined while there are too few. */
export function calibrate(labels: readonly Label[]): Calibration | undefined {
  const usable = labels
    .filter(({ value, right }) => Number.isFinite(value) && right >= 0 && right <= 1)
    .toSorted((a, b) => a.value - b.value);
  if (usable.length < enoughLabels) {
    return undefined;
  }
  const blocks: { value: number; right: number; weight: number }[] = [];
  for (const { value, right } of usable) {
    blocks.push({ value, right, weight: 1 });
    // Neighbours in the wrong order are merged into one block, with the mean of both.
    for (
      let last = blocks.length - 1;
      last > 0 && blocks[last - 1]!.right >= blocks[last]!.right;
      last -= 1
    ) {
      const upper = blocks.pop()!;
      const lower = blocks.pop()!;
      const weight = upper.weight + lower.weight;
      const mean = (key: 'value' | 'right'): number =>
        (upper[key] * upper.weight + lower[key] * lower.weight) / weight;
      blocks.push({ value: mean('value'), right: mean('right'), weight });
    }
  }
  return {
    labels: usable.length,
    points: blocks.map(({ value, right, weight }) => ({ value, right: shrunk(right, weight) })),
  };
}

/** A block of few answers is drawn towards the middle: three of three right is not "always". */
const shrunk = (right: number, weight: number): number => (right * weight + 1) / (weight + 2);

/**
 * Returns how often reports of this confidence were right, interpolated between the nearest points.
 */
export function calibrated(value: number, { points }: Calibration): number {
  const rising = monotone(points);
  const above = rising.findIndex((point) => point.value >= value);
  if (above <= 0) {
    return (above === 0 ? rising[0]! : rising.at(-1)!).right;
  }
  const low = rising[above - 1]!;
  const high = rising[above]!;
  return low.right + ((high.right - low.right) * (value - low.value)) / (high.value - low.value);
}

/** Shrinking can turn the order of two small blocks; more confidence never means less. */
function monotone(points: Calibration['points']): Calibration['points'] {
  let highest = 0;
  return points.map(({ value, right }) => ({ value, right: (highest = Math.max(highest, right)) }));
}
