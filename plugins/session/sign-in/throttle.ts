import { networkOf, SlidingCounter } from 'svc/flow';
import type { Clock } from 'svc/sdk';

import { errors } from './errors.ts';

/** Login attempt; exactly one of its outcomes must be reported. */
export interface Attempt {
  succeeded(): void;
  failed(): void;
  /** Reports that it was never decided. */
  dropped(): void;
}

const windowMs = 10 * 60_000;
/** Max failures from one place: whoever guesses there must not lock the owner out everywhere. */
const failuresPerPlace = 10;
/** Max failures from all places together. */
const failuresPerEmail = 100;
const mostFamiliar = 10_000;
const failuresPerAddress = 50;
const registrationsPerAddress = 10;

/** Slows down guessing, at one account or at many from one place, and making accounts by the dozen. */
export class Throttle {
  readonly #places: SlidingCounter;
  readonly #emails: SlidingCounter;
  readonly #addresses: SlidingCounter;
  readonly #registrations: SlidingCounter;
  /** E-mails with the places from which they signed in; the oldest is dropped. */
  readonly #familiar = new Set<string>();

  constructor(clock: Clock) {
    this.#places = new SlidingCounter({ limit: failuresPerPlace, windowMs, clock });
    this.#emails = new SlidingCounter({ limit: failuresPerEmail, windowMs, clock });
    this.#addresses = new SlidingCounter({ limit: failuresPerAddress, windowMs, clock });
    this.#registrations = new SlidingCounter({ limit: registrationsPerAddress, windowMs, clock });
  }

  /**
   * Throws rate_limited when the address has failed too often, with this e-mail or with many, or the e-mail has from everywhere: but
   * not where its owner has signed in before, so that guesses from elsewhere shut nobody out.
   */
  begin(email: string, ip: string): Attempt {
    const place = networkOf(ip);
    const pair = `${place} ${email}`;
    const everywhere = this.#familiar.has(pair) ? 0 : this.#emails.waitMs(email);
    assertNoWait(
      Math.max(this.#places.waitMs(pair), everywhere, this.#addresses.waitMs(place)),
      'too many failed logins',
    );
    const ends = [
      this.#places.begin(pair),
      this.#emails.begin(email),
      this.#addresses.begin(place),
    ];
    return {
      succeeded: () => {
        ends.forEach((end) => end(false));
        this.#places.clear(pair);
        this.#remember(pair);
      },
      failed: () => ends.forEach((end) => end(true)),
      dropped: () => ends.forEach((end) => end(false)),
    };
  }

  #remember(pair: string): void {
    this.#familiar.delete(pair);
    if (this.#familiar.size >= mostFamiliar) {
      this.#familiar.delete(this.#familiar.values().next().value!);
    }
    this.#familiar.add(pair);
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
    throw errors.throttled({ reason, seconds: retryAfterSeconds }, { retryAfterSeconds });
  }
}
