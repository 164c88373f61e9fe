export interface RestartPolicy {
  /** Wait before the first restart; doubles with each further one. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** A child that ran this long starts again from `firstMs`. */
  readonly stableMs: number;
  /** Max restarts within `windowMs`, after which it is given up. */
  readonly maxRestarts: number;
  readonly windowMs: number;
}

export const patience: RestartPolicy = {
  firstMs: 1_000,
  maxMs: 5 * 60_000,
  stableMs: 60_000,
  maxRestarts: 10,
  windowMs: 30 * 60_000,
};

/** Decides after each end of a supervised child how long to wait, or (undefined) to give up. */
export function restarts(
  policy: RestartPolicy,
  random: () => number,
): (at: number, ranMs: number) => number | undefined {
  let recent: number[] = [];
  let inRow = 0;
  return (at, ranMs) => {
    recent = [...recent.filter((end) => at - end < policy.windowMs), at];
    inRow = ranMs >= policy.stableMs ? 1 : inRow + 1;
    if (recent.length > policy.maxRestarts) {
      return undefined;
    }
    const full = Math.min(policy.maxMs, policy.firstMs * 2 ** (inRow - 1));
    // Between half and whole, so that children that fell together do not rise together.
    return full * (0.5 + random() / 2);
  };
}
