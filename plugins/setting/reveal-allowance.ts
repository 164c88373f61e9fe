import { SlidingCounter } from 'svc/flow';
import type { Clock, Principal } from 'svc/sdk';

import { errors } from './errors.ts';

const most = 10;

/** Limits on revealing secrets per principal: a stolen session must not empty svc at once. */
export class RevealAllowance {
  readonly #reveals: SlidingCounter;

  constructor(clock: Clock) {
    this.#reveals = new SlidingCounter({ limit: most, windowMs: 60_000, clock, maxKeys: 1_000 });
  }

  /** Counts one reveal, or refuses it. */
  spend({ kind, id }: Principal): void {
    const principal = `${kind}:${id}`;
    const waitMs = this.#reveals.waitMs(principal);
    if (waitMs > 0) {
      throw errors.too_many_reveals({ max: most }, { retryAfterSeconds: waitMs / 1_000 });
    }
    this.#reveals.add(principal);
  }
}
