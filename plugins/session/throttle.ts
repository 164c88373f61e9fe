import { isIPv6 } from 'node:net';

import { type Clock, SvcError } from 'svc/sdk';

import { Tally } from './tally.ts';

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
  readonly #emails: Tally;
  readonly #addresses: Tally;
  readonly #registrations: Tally;

  constructor(clock: Clock) {
    this.#emails = new Tally({ limit: failuresPerEmail, windowMs, clock });
    this.#addresses = new Tally({ limit: failuresPerAddress, windowMs, clock });
    this.#registrations = new Tally({ limit: registrationsPerAddress, windowMs, clock });
  }

  /** Throws rate_limited when the e-mail or the address has failed too often. */
  begin(email: string, ip: string): Attempt {
    const place = network(ip);
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
    const place = network(ip);
    assertNoWait(this.#registrations.waitMs(place), 'too many registrations from this address');
    // One that succeeds counts as well: it leaves an account behind.
    this.#registrations.begin(place)(true);
  }
}

function assertNoWait(waitMs: number, reason: string): void {
  if (waitMs > 0) {
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    throw new SvcError('rate_limited', `${reason}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
  }
}

/** What one customer of a provider has: a single IPv4 address, or 64 bits of IPv6 to choose addresses from. */
export function network(ip: string): string {
  if (!isIPv6(ip)) {
    return ip;
  }
  const [head, tail] = ip.split('::', 2).map((part) => part.split(':').filter(Boolean)) as [string[], string[]?];
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
