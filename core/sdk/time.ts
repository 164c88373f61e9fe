import type { MaybePromise } from './scope.ts';

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

/** Settles like `work`, or after `ms` as `late` says; what ends later goes unheard. The process waits for it, unless `idle`. */
export function withDeadline<T>(
  work: PromiseLike<T>,
  ms: number,
  late: () => MaybePromise<T>,
  { idle = false } = {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => resolve(late()), ms);
    if (idle) {
      timer.unref();
    }
    void work.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
