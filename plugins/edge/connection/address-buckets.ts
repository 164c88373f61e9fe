import { isIPv6 } from 'node:net';

import type { Clock } from 'svc/sdk';

/** Lets through what flows in at `rate`, and at once as much as `burst`; what costs more goes into debt. */
export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor(burst: number, nowMs: number) {
    this.#tokens = burst;
    this.#at = nowMs;
  }

  /** Seconds until the next may begin; 0 when it may now. The limits are those of this moment. */
  wait(rate: number, burst: number, nowMs: number): number {
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#at) / 1_000) * rate);
    this.#at = nowMs;
    return this.#tokens >= 1 ? 0 : (1 - this.#tokens) / rate;
  }

  spend(amount: number): void {
    this.#tokens -= amount;
  }
}

const mostAddresses = 10_000;

/** A bucket for each address that came of late, or for 64 bits of IPv6. */
export class AddressBuckets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #burst: () => number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Pick<Clock, 'monotonic'>, burst: () => number) {
    this.#clock = clock;
    this.#burst = burst;
  }

  of(ip: string): TokenBucket {
    const network = networkOf(ip);
    const bucket = this.#buckets.get(network) ?? new TokenBucket(this.#burst(), this.#clock.monotonic());
    this.#buckets.delete(network);
    if (this.#buckets.size >= mostAddresses) {
      this.#buckets.delete(this.#buckets.keys().next().value!);
    }
    this.#buckets.set(network, bucket);
    return bucket;
  }
}

/** What one customer of a provider has: a single IPv4 address, or 64 bits of IPv6 to choose addresses from. */
function networkOf(ip: string): string {
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
