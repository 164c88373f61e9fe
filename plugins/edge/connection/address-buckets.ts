import { networkOf, TokenBucket } from 'svc/flow';
import type { Clock } from 'svc/sdk';

const maxAddresses = 10_000;

/** A bucket for each address that came of late, or for 64 bits of IPv6. */
export class AddressBuckets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #burst: () => number;
  /** Buckets, least recently used first. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Pick<Clock, 'monotonic'>, burst: () => number) {
    this.#clock = clock;
    this.#burst = burst;
  }

  of(ip: string): TokenBucket {
    const network = networkOf(ip);
    const bucket =
      this.#buckets.get(network) ?? new TokenBucket(this.#burst(), this.#clock.monotonic());
    this.#buckets.delete(network);
    if (this.#buckets.size >= maxAddresses) {
      this.#buckets.delete(this.#buckets.keys().next().value!);
    }
    this.#buckets.set(network, bucket);
    return bucket;
  }
}
