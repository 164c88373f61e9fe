import { isIPv6 } from 'node:net';

import { type Clock, SvcError } from 'svc/sdk';

import { TokenBucket } from './token-bucket.ts';

export interface GovernorLimits {
  /** Sockets that have not proved anything yet. */
  readonly unproved: number;
  /** Of the whole house. */
  readonly perSecond: number;
  /** Of one address, or of 64 bits of IPv6. */
  readonly perAddress: number;
}

/** Decides who may try to prove itself: a whole fleet comes back at once, and so may whoever has no keys at all. */
export interface Governor {
  /** Asked before the upgrade; throws unavailable, with a time to come back. */
  admit(ip: string): void;
  /** A socket is open and proves itself; the returned function is told, once, how that ended. */
  begin(ip: string): (proved: boolean) => void;
  readonly unproved: number;
  readonly refused: number;
}

/** One failed proof costs as much as so many good ones. */
const failureCost = 10;
const mostAddresses = 10_000;
const longestWaitSeconds = 30;

export function createGovernor(limits: () => GovernorLimits, clock: Clock, random: () => number): Governor {
  const house = new TokenBucket(limits().perSecond, clock.monotonic());
  const addresses = new Map<string, TokenBucket>();
  let unproved = 0;
  let refused = 0;

  function bucketOf(ip: string): TokenBucket {
    const place = networkOf(ip);
    const bucket = addresses.get(place) ?? new TokenBucket(2 * limits().perAddress, clock.monotonic());
    // In the order of the last use.
    addresses.delete(place);
    if (addresses.size >= mostAddresses) {
      addresses.delete(addresses.keys().next().value!);
    }
    addresses.set(place, bucket);
    return bucket;
  }

  function refuse(seconds: number): never {
    refused += 1;
    // Those who are refused together do not come back together.
    const retryAfterSeconds = Math.min(longestWaitSeconds, Math.ceil(seconds) + Math.floor(random() * 5) + 1);
    throw new SvcError('unavailable', `too many edges connect at this moment; come back in ${retryAfterSeconds} s`, { retryAfterSeconds });
  }

  return {
    get unproved() {
      return unproved;
    },
    get refused() {
      return refused;
    },
    admit(ip) {
      const { unproved: most, perSecond, perAddress } = limits();
      const now = clock.monotonic();
      const own = bucketOf(ip);
      const wait = Math.max(own.wait(perAddress, 2 * perAddress, now), house.wait(perSecond, perSecond, now));
      if (wait > 0 || unproved >= most) {
        refuse(wait);
      }
      own.spend(1);
      house.spend(1);
    },
    begin(ip) {
      unproved += 1;
      let open = true;
      return (proved) => {
        if (open) {
          open = false;
          unproved -= 1;
          if (!proved) {
            bucketOf(ip).spend(failureCost);
          }
        }
      };
    },
  };
}

/** What one customer of a provider has: a single IPv4 address, or 64 bits of IPv6 to choose addresses from. */
export function networkOf(ip: string): string {
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
