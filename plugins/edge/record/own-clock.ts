import type { Clock } from 'svc/sdk';

import type { EdgeTable } from './edge-table.ts';

/** More than NTP slews, or a process that was paused reads late, in a second. */
const steppedMs = 1_000;

/**
 * The clock of this machine. When it steps, all that edges found while they compared theirs with it
 * says nothing any more, least of all that theirs are wrong.
 */
export class OwnClock {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #edges: Pick<EdgeTable, 'all'>;
  #offset: number;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, edges: Pick<EdgeTable, 'all'>) {
    this.#clock = clock;
    this.#edges = edges;
    this.#offset = this.#now();
  }

  /** Forgets what edges found before the last step; they compare again every five minutes. */
  look(): void {
    const offset = this.#now();
    if (Math.abs(offset - this.#offset) > steppedMs) {
      for (const { tunnel } of this.#edges.all()) {
        if (tunnel) {
          tunnel.clockSkewMs = null;
        }
      }
    }
    this.#offset = offset;
  }

  #now(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }
}
