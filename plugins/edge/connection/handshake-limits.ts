import { TokenBucket } from 'svc/flow';
import type { Clock } from 'svc/sdk';

import { AddressBuckets } from './address-buckets.ts';
import { tooMany } from './admission-queue.ts';

export interface Limits {
  /** Sockets that have not proved anything yet. */
  readonly unproved: number;
  /** Limit of all edges together. */
  readonly perSecond: number;
  /** Limit of one address, or of 64 bits of IPv6. */
  readonly perAddress: number;
}

export interface HandshakeLimitsParts {
  readonly limits: () => Limits;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Cost of one failed proof in successful ones. */
const failureCost = 10;
const longestWaitSeconds = 30;

/**
 * Limits on who may try to authenticate: a whole fleet may reconnect at once, and so may strangers
 * without keys.
 */
export class HandshakeLimits {
  readonly #limits: () => Limits;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #all: TokenBucket;
  readonly #addresses: AddressBuckets;
  #unproved = 0;
  #refused = 0;

  constructor({ limits, clock, random }: HandshakeLimitsParts) {
    this.#limits = limits;
    this.#clock = clock;
    this.#random = random;
    this.#all = new TokenBucket(limits().perSecond, clock.monotonic());
    this.#addresses = new AddressBuckets(clock, () => 2 * limits().perAddress);
  }

  get unproved(): number {
    return this.#unproved;
  }

  get refused(): number {
    return this.#refused;
  }

  /** Checks the limits before the upgrade; throws unavailable, with a time to come back. */
  admit(ip: string): void {
    const { unproved: most, perSecond, perAddress } = this.#limits();
    const now = this.#clock.monotonic();
    const own = this.#addresses.of(ip);
    const wait = own.wait(perAddress, 2 * perAddress, now);
    const waitOfAll = this.#all.wait(perSecond, perSecond, now);
    const isFull = waitOfAll > 0 || this.#unproved >= most;
    if (wait > 0 || isFull) {
      this.#refused += 1;
      throw tooMany(this.#random, {
        afterSeconds: Math.max(wait, waitOfAll),
        maxSeconds: longestWaitSeconds,
        isFull,
      });
    }
    own.spend(1);
    this.#all.spend(1);
  }

  /** A socket is open and proves itself; the returned function takes, once, how that ended. */
  begin(ip: string): (proved: boolean) => void {
    this.#unproved += 1;
    let open = true;
    return (proved) => {
      if (open) {
        open = false;
        this.#unproved -= 1;
        if (!proved) {
          this.#addresses.of(ip).spend(failureCost);
        }
      }
    };
  }
}
