/** Injected time: wall for stamps that people read, monotonic for every duration. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never jump. */
  monotonic(): number;
}

/** Injected randomness. */
export interface Ids {
  /** Time-ordered UUID. */
  uuid(): string;
  /** URL-safe secret with `bytes` of entropy. */
  token(bytes?: number): string;
}

/** RFC 3339, UTC, milliseconds: the only form of an instant that leaves the process. */
export const timestamp = (epochMs: number): string => new Date(epochMs).toISOString();
