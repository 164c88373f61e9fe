import type { Clock } from 'svc/sdk';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface BelievedClockRules {
  /** What this clock said last, before the process started; undefined when it never ran. */
  readonly lastSeen: number | undefined;
  /** A jump of no more than this is taken over at once. */
  readonly toleranceMs: number;
  /** How long a greater jump must last to be believed; default an hour. */
  readonly doubtMs?: number;
}

/**
 * The wall clock as far as it can be believed, for what cannot be undone: deleting what is old, ending what has expired. When the
 * clock jumps, or stands elsewhere at a start than it can, time goes on from what was last seen; after an hour the clock is right.
 */
export class BelievedClock implements Clock {
  readonly #clock: Clock;
  readonly #toleranceMs: number;
  readonly #doubtMs: number;
  /** A moment of which both times are known. */
  #wall: number;
  #steady: number;
  #doubtedSince: number | undefined;

  constructor(clock: Clock, { lastSeen, toleranceMs, doubtMs = hourMs }: BelievedClockRules) {
    this.#clock = clock;
    this.#toleranceMs = toleranceMs;
    this.#doubtMs = doubtMs;
    const now = clock.now();
    // Since then the process may have been away for a while, but not for less than nothing.
    const isPossible =
      lastSeen === undefined || (now >= lastSeen - toleranceMs && now <= lastSeen + dayMs);
    this.#wall = isPossible ? now : lastSeen;
    this.#steady = clock.monotonic();
  }

  now(): number {
    const steady = this.#clock.monotonic();
    const wall = this.#clock.now();
    const expected = this.#wall + steady - this.#steady;
    if (Math.abs(wall - expected) <= this.#toleranceMs) {
      return this.#believe(wall, steady);
    }
    this.#doubtedSince ??= steady;
    return steady - this.#doubtedSince >= this.#doubtMs
      ? this.#believe(wall, steady)
      : Math.round(expected);
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  get isDoubted(): boolean {
    this.now();
    return this.#doubtedSince !== undefined;
  }

  #believe(wall: number, steady: number): number {
    this.#wall = wall;
    this.#steady = steady;
    this.#doubtedSince = undefined;
    return wall;
  }
}
