import type { Clock } from 'svc/sdk';

/** Factor by which held time is slower; it still passes, so that what is written keeps its order. */
const slowness = 1_000;

/**
 * Clock of the temporary svc. Once it is held, hours of a bench are seconds of its world: "the last
 * hour" is the same one for the first case and the last.
 */
export class HeldClock implements Clock {
  #held: number | undefined;

  now(): number {
    const now = Date.now();
    return this.#held === undefined ? now : Math.floor(this.#held + (now - this.#held) / slowness);
  }

  monotonic(): number {
    return performance.now();
  }

  hold(): void {
    this.#held ??= Date.now();
  }
}
