import { SlidingCounter } from 'svc/flow';
import type { Clock } from 'svc/sdk';

import { errors } from './errors.ts';

const windowMs = 10 * 60_000;
const maxWrong = 10;

/** Slows down guessing the password behind a session that was left open. */
export class Guesses {
  readonly #wrong: SlidingCounter;

  constructor(clock: Clock, maxAccounts = 10_000) {
    this.#wrong = new SlidingCounter({ limit: maxWrong, windowMs, clock, maxKeys: maxAccounts });
  }

  /**
   * Returns whether a guess at the password of this account is right; throws rate_limited, without
   * checking, after too many wrong ones.
   */
  async check(id: number, isRight: () => Promise<boolean>): Promise<boolean> {
    const account = String(id);
    const waitMs = this.#wrong.waitMs(account);
    if (waitMs > 0) {
      const retryAfterSeconds = Math.ceil(waitMs / 1000);
      throw errors.too_many_guesses({ seconds: retryAfterSeconds }, { retryAfterSeconds });
    }
    const end = this.#wrong.begin(account);
    let right: boolean;
    try {
      right = await isRight();
    } catch (error) {
      end(false);
      throw error;
    }
    end(!right);
    if (right) {
      this.#wrong.clear(account);
    }
    return right;
  }
}
