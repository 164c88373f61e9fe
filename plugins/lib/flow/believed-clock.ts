import type { Clock } from 'svc/sdk';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface BelievedClockRules {
  /** Last time of this clock before the process started; undefined if it never ran. */
  readonly lastSeen: number | undefined;
  /** Max jump that is accepted immediately. */
  readonly toleranceMs: number;
  /** Time for which a larger jump must last to be accepted; default an hour. */
  readonly doubtMs?: number;
}

/**
 * Wall clock as far as it can be trusted, for what cannot be undone: deleting old data, ending what
 * has expired. If the clock jumps, or is wrong at a start, time continues from the last trusted
 * value; after an hour the clock is right.
 */
export class BelievedClock implements Clock {
  readonly #clock: Clock;
  readonly #toleranceMs: number;
  readonly #doubtMs: number;
  /** Wall part of a moment at which both times are known. */
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
