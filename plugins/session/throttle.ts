import { networkOf, SlidingCounter } from 'svc/flow';
import { type Clock, SvcError } from 'svc/sdk';

/** A login that is being tried; exactly one of its ends must be told. */
export interface Attempt {
  succeeded(): void;
  failed(): void;
  /** It was never decided. */
  dropped(): void;
}

const windowMs = 10 * 60_000;
const failuresPerEmail = 10;
const failuresPerAddress = 50;
const registrationsPerAddress = 10;

/** Slows down guessing, at one account or at many from one place, and making accounts by the dozen. */
export class Throttle {
  readonly #emails: SlidingCounter;
  readonly #addresses: SlidingCounter;
  readonly #registrations: SlidingCounter;

  constructor(clock: Clock) {
    this.#emails = new SlidingCounter({ limit: failuresPerEmail, windowMs, clock });
    this.#addresses = new SlidingCounter({ limit: failuresPerAddress, windowMs, clock });
    this.#registrations = new SlidingCounter({ limit: registrationsPerAddress, windowMs, clock });
  }

  /** Throws rate_limited when the e-mail or the address has failed too often. */
  begin(email: string, ip: string): Attempt {
    const place = networkOf(ip);
    assertNoWait(Math.max(this.#emails.waitMs(email), this.#addresses.waitMs(place)), 'too many failed logins');
    const ends = [this.#emails.begin(email), this.#addresses.begin(place)];
    return {
      succeeded: () => {
        ends.forEach((end) => end(false));
        this.#emails.clear(email);
      },
      failed: () => ends.forEach((end) => end(true)),
      dropped: () => ends.forEach((end) => end(false)),
    };
  }

  /** Throws rate_limited when the address has registered too often, whatever came of it. */
  register(ip: string): void {
    const place = networkOf(ip);
    assertNoWait(this.#registrations.waitMs(place), 'too many registrations from this address');
    // One that succeeds counts as well: it leaves an account behind.
    this.#registrations.add(place);
  }
}

function assertNoWait(waitMs: number, reason: string): void {
  if (waitMs > 0) {
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    throw new SvcError('rate_limited', `${reason}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
  }
}
