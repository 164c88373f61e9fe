import type { Clock } from 'svc/sdk';

const hourMs = 60 * 60_000;
/** More often than that within an hour nobody restarts an agent. */
const often = 6;

/** How often edges have come back within the hour; only those that did are remembered, and no more of each than it takes to tell. */
export class Comings {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #times = new Map<number, number[]>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** One that was there `agoMs` ago is connected again. */
  came(edgeId: number, agoMs: number): void {
    if (agoMs > hourMs) {
      return;
    }
    const times = this.#times.get(edgeId) ?? [];
    times.push(this.#clock.monotonic());
    this.#times.set(edgeId, times.slice(-often));
  }

  forget(edgeId: number): void {
    this.#times.delete(edgeId);
  }

  /** Those that come and go, by their ids. */
  flapping(): readonly number[] {
    const since = this.#clock.monotonic() - hourMs;
    for (const [edgeId, times] of this.#times) {
      if (times.at(-1)! < since) {
        this.#times.delete(edgeId);
      }
    }
    return [...this.#times]
      .filter(([, times]) => times.length === often && times[0]! >= since)
      .map(([edgeId]) => edgeId);
  }
}
