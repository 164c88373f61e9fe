/** How many messages a platform takes: `count` in any `per_ms`. */
export interface Limit {
  readonly count: number;
  readonly per_ms: number;
}

/** How long a message must wait so that no window holds more than its limit; `stamps` ascending. */
export function waitFor(limits: readonly Limit[], stamps: readonly number[], now: number): number {
  const waits = limits.map(({ count, per_ms: perMs }) => {
    const oldest = stamps[stamps.length - count];
    return oldest === undefined ? 0 : oldest + perMs - now;
  });
  return Math.max(0, ...waits);
}

/** The stamps that a limit may still ask about. */
export function kept(limits: readonly Limit[], stamps: readonly number[]): readonly number[] {
  return stamps.slice(-Math.max(1, ...limits.map(({ count }) => count)));
}

/** Stamps of the wall clock in terms of one that never jumps; what lies ahead has just been. */
export function asOf(wallStamps: readonly number[], wallNow: number, now: number): readonly number[] {
  return wallStamps.map((at) => now - Math.max(0, wallNow - at)).sort((a, b) => a - b);
}
