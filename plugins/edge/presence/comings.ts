import type { Clock } from 'svc/sdk';

const hourMs = 60 * 60_000;
/**
 * Reconnections within an hour from which on an edge counts as flapping: nobody restarts an agent
 * that often.
 */
const often = 6;

/**
 * Reconnections of edges within the hour; only edges that reconnected are stored, and only as many
 * times as needed.
 */
export class Comings {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #times = new Map<number, number[]>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Records that an edge that was connected `agoMs` ago is back. */
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

  /** Returns the ids of flapping edges. */
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
