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

  /** How often the wall has jumped, as of the last look. */
  get jumps(): number {
    return this.#jumps;
  }

  /** How much of the time to come the wall has shown before: as far as all jumps, over all starts, have set it back. */
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

  /** How far the wall has jumped from steady time, over all starts. */
  get drift(): number {
    return this.#drift;
  }

  /** Goes on from where the process before this one was. */
  restore(drift: number): void {
    this.#drift = drift;
  }
}

const baseOf = (clock: Clock, wall: number): number => Math.round(wall - clock.monotonic());
