import type { Ledger } from '../incident/ledger/ledger.ts';
import type { Attempts } from './attempts.ts';
import type { Timeline } from './timeline.ts';

export interface HeartbeatParts {
  readonly ledger: Pick<Ledger, 'saveHeartbeat' | 'saveReadings'>;
  readonly timeline: Timeline;
  readonly attempts: Attempts;
}

const beatMs = 10_000;
/**
 * Interval of storing readings, which change all the time: a crash loses at most this much of them.
 */
const readingsMs = 300_000;

/** Periodic record that the evaluator is at work, with its latest readings. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #beatAt = -Infinity;
  #readAt = -Infinity;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /** Beats if one is due; returns whether it did, which is not at every tick. */
  async beat(now: number): Promise<boolean> {
    const { ledger, timeline, attempts } = this.#parts;
    const isDue = Math.abs(now - this.#beatAt) >= beatMs;
    if (isDue) {
      this.#beatAt = now;
      await attempts.run(
        'store its heartbeat',
        ledger.saveHeartbeat({ at: timeline.steady(now), drift: timeline.drift }),
      );
    }
    if (isDue && Math.abs(now - this.#readAt) >= readingsMs) {
      this.#readAt = now;
      await this.saveReadings();
    }
    return isDue;
  }

  /** The wall has jumped. */
  beatSoon(): void {
    this.#beatAt = -Infinity;
  }

  saveReadings(): Promise<void> {
    return this.#parts.attempts.run(
      'store the last measured values',
      this.#parts.ledger.saveReadings(),
    );
  }
}
