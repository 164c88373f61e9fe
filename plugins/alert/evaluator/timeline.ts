import type { Clock } from 'svc/sdk';

/** A step of the wall clock that is larger is a jump; a smaller one is how clocks are kept. */
const jumpMs = 5_000;

/**
 * Two times. The wall says when samples and promises to people are; it can jump. Steady time does not, and durations are
 * measured in it. Between jumps the two differ by a constant, the drift, which a restart takes over. Both are stored, so
 * both are whole milliseconds: the monotonic clock has fractions, which end here.
 */
export class Timeline {
  readonly #clock: Clock;
  /** Wall minus monotonic, as of the last look. */
  #base: number;
  #drift = 0;
  #jumps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#base = baseOf(clock, this.#wall());
  }

  #wall(): number {
    return Math.floor(this.#clock.now());
  }

  /** Number of jumps of the wall clock, as of the last look. */
  get jumps(): number {
    return this.#jumps;
  }

  /**
   * Span of upcoming time that the wall clock has already shown: the sum of the jumps back over all
   * starts.
   */
  get seenBeforeMs(): number {
    return Math.max(0, Math.round(-this.#drift / 1_000) * 1_000);
  }

  /** The wall; to be read before steady time is measured. */
  look(): number {
    const now = this.#wall();
    const base = baseOf(this.#clock, now);
    const moved = base - this.#base;
    this.#base = base;
    if (Math.abs(moved) > jumpMs) {
      this.#drift += moved;
      this.#jumps += 1;
    }
    return now;
  }

  steady(wall: number): number {
    return wall - this.#drift;
  }

  /** Drift of the wall clock from steady time, over all starts. */
  get drift(): number {
    return this.#drift;
  }

  /** Continues from where the previous process stopped. */
  restore(drift: number): void {
    this.#drift = drift;
  }
}

const baseOf = (clock: Clock, wall: number): number => Math.round(wall - clock.monotonic());
