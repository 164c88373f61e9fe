import { isIPv6 } from 'node:net';

import type { Clock } from 'svc/sdk';

export interface CounterRules {
  /** Max count in any window; one more has to wait. */
  readonly limit: number;
  readonly windowMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Max keys watched; the one that was counted longest ago is dropped. */
  readonly maxKeys?: number;
}

interface Count {
  readonly times: readonly number[];
  /** Begun, and not known yet whether they count. */
  readonly pending: number;
}

/** Time to wait for attempts in progress. */
const pendingMs = 1_000;

/** Counts by key what happened within a window that ends now. */
export class SlidingCounter {
  readonly #rules: CounterRules;
  /** Counts, least recently changed first. */
  readonly #counts = new Map<string, Count>();

  constructor(rules: CounterRules) {
    this.#rules = rules;
  }

  /** Returns how long this key must wait; 0 if it may proceed. */
  waitMs(key: string): number {
    const { limit, windowMs, clock } = this.#rules;
    const times = this.#recent(key);
    if (times.length >= limit) {
      return times[times.length - limit]! + windowMs - clock.monotonic();
    }
    return times.length + this.#pending(key) >= limit ? pendingMs : 0;
  }

  add(key: string): void {
    this.#keep(key, {
      times: [...this.#recent(key), this.#rules.clock.monotonic()],
      pending: this.#pending(key),
    });
  }

  /** Counts at once; the returned function says, once, whether it stays counted. So attempts at the same time cannot outrun the limit. */
  begin(key: string): (counts: boolean) => void {
    this.#keep(key, { times: this.#recent(key), pending: this.#pending(key) + 1 });
    return (counts) => {
      const times = this.#recent(key);
      const pending = Math.max(0, this.#pending(key) - 1);
      this.#keep(key, {
        times: counts ? [...times, this.#rules.clock.monotonic()] : times,
        pending,
      });
    };
  }

  clear(key: string): void {
    this.#keep(key, { times: [], pending: this.#pending(key) });
  }

  #recent(key: string): readonly number[] {
    const since = this.#rules.clock.monotonic() - this.#rules.windowMs;
    return this.#counts.get(key)?.times.filter((at) => at > since) ?? [];
  }

  #pending(key: string): number {
    return this.#counts.get(key)?.pending ?? 0;
  }

  #keep(key: string, count: Count): void {
    this.#counts.delete(key);
    if (count.times.length === 0 && count.pending === 0) {
      return;
    }
    if (this.#counts.size >= (this.#rules.maxKeys ?? 10_000)) {
      this.#counts.delete(this.#counts.keys().next().value!);
    }
    this.#counts.set(key, count);
  }
}

/** The key for an address: what one customer of a provider has, a single IPv4 address, or 64 bits of IPv6 to choose addresses from. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) {
    return ip;
  }
  const [head, tail] = ip.split('::', 2).map((part) => part.split(':').filter(Boolean)) as [
    string[],
    string[]?,
  ];
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
