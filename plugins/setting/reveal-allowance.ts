import { SlidingCounter } from 'svc/flow';
import { type Clock, type Principal, SvcError } from 'svc/sdk';

const most = 10;

/** How many secrets each principal may reveal: a stolen session must not empty svc in one go. */
export class RevealAllowance {
  readonly #reveals: SlidingCounter;

  constructor(clock: Clock) {
    this.#reveals = new SlidingCounter({ limit: most, windowMs: 60_000, clock, mostKeys: 1_000 });
  }

  /** Counts one reveal, or refuses it. */
  spend({ kind, id }: Principal): void {
    const principal = `${kind}:${id}`;
    const waitMs = this.#reveals.waitMs(principal);
    if (waitMs > 0) {
      throw new SvcError(
        'rate_limited',
        `${most} secrets a minute may be revealed; wait a moment`,
        { retryAfterSeconds: waitMs / 1_000 },
      );
    }
    this.#reveals.add(principal);
  }
}
