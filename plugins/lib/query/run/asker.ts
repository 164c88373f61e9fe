import type { Principal } from 'svc/sdk';

const halfLifeMs = 10_000;
/** Computing in the last half-minute or so that makes an asker a heavy one. */
const heavyMs = 2_000;

/** One person or token that asks, or the product itself, and what its queries have cost lately. */
export class Asker {
  /** Undefined for the product itself: alerting, recording, its own pages. */
  readonly key: string | undefined;
  /** Queries of it that have arrived and not ended. */
  present = 0;
  /** Number of those that have begun. */
  running = 0;
  /** Position of its last beginning among all beginnings. */
  beganLast = 0;
  /** Typical computing time of its queries, from the last few. */
  usualMs = 0;
  #recentMs = 0;
  #at = 0;

  constructor(key: string | undefined) {
    this.key = key;
  }

  get isHouse(): boolean {
    return this.key === undefined;
  }

  recentMs(now: number): number {
    return this.#recentMs * 0.5 ** ((now - this.#at) / halfLifeMs);
  }

  isHeavy(now: number): boolean {
    return this.recentMs(now) > heavyMs;
  }

  charge(ms: number, now: number): void {
    this.#recentMs = this.recentMs(now) + ms;
    this.#at = now;
  }

  /** Records the total time of a query that has ended. */
  learn(ms: number): void {
    this.usualMs = this.usualMs === 0 ? ms : this.usualMs + (ms - this.usualMs) / 4;
  }
}

/**
 * Returns the asker of a principal: a person is one asker, whatever they use; anything not from
 * outside counts as the product itself.
 */
export function askerOf({ kind, id }: Pick<Principal, 'kind' | 'id'>): string | undefined {
  switch (kind) {
    case 'user':
    case 'token':
      return `person ${id}`;
    case 'plugin':
    case 'system':
      return undefined;
    default:
      return `${kind} ${id}`;
  }
}
