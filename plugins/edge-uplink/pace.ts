import { TokenBucket } from 'svc/flow';
import type { Clock } from 'svc/sdk';

const windowMs = 30_000;
/** Min rate of replaying waiting data when there is nothing new. */
const leastPerSecond = 256 * 1024;

/**
 * Rate limit of replaying: at most twice as fast as new data arrives, so that a manager that is
 * back is not overrun.
 */
export class Pace {
  readonly #clock: Clock;
  #live = 0;
  #since: number;
  readonly #replay: TokenBucket;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
    this.#replay = new TokenBucket(leastPerSecond, this.#since);
  }

  /** Bytes that were new have left. */
  sentLive(bytes: number): void {
    this.#decay();
    this.#live += bytes;
  }

  sentReplay(bytes: number): void {
    this.#replay.spend(bytes);
  }

  /** Milliseconds until a record that has waited may go; 0 for at once. */
  waitMs(): number {
    const perSecond = this.#perSecond();
    return Math.ceil(this.#replay.wait(perSecond, perSecond, this.#clock.monotonic()) * 1_000);
  }

  #perSecond(): number {
    this.#decay();
    return Math.max(leastPerSecond, (2 * this.#live) / (windowMs / 1_000));
  }

  #decay(): void {
    const now = this.#clock.monotonic();
    this.#live *= Math.exp(-(now - this.#since) / windowMs);
    this.#since = now;
  }
}
