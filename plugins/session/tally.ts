import type { Clock } from 'svc/sdk';

export interface TallyOptions {
  readonly limit: number;
  readonly windowMs: number;
  readonly clock: Clock;
  /** Keys that are counted at once; the one that failed longest ago makes room. */
  readonly mostKeys?: number;
}

interface Count {
  failures: readonly number[];
  pending: number;
}

/** How long to wait for tries that are under way. */
const pendingMs = 1_000;

/** Recent failures, by key. */
export class Tally {
  readonly #options: TallyOptions;
  readonly #counts = new Map<string, Count>();

  constructor(options: TallyOptions) {
    this.#options = options;
  }

  /** How long this key must wait; 0 when it may try now. */
  waitMs(key: string): number {
    const { limit, windowMs, clock } = this.#options;
    const failures = this.#recent(key);
    if (failures.length >= limit) {
      return failures[0]! + windowMs - clock.monotonic();
    }
    return failures.length + this.#pending(key) >= limit ? pendingMs : 0;
  }

  /** Counts a try as a failure until its end says otherwise, so that tries at the same time cannot outrun the limit. */
  begin(key: string): (failed: boolean) => void {
    this.#keep(key, { failures: this.#recent(key), pending: this.#pending(key) + 1 });
    return (failed) => {
      const failures = failed ? [...this.#recent(key), this.#options.clock.monotonic()] : this.#recent(key);
      this.#keep(key, { failures, pending: Math.max(0, this.#pending(key) - 1) });
    };
  }

  clear(key: string): void {
    this.#keep(key, { failures: [], pending: this.#pending(key) });
  }

  #pending(key: string): number {
    return this.#counts.get(key)?.pending ?? 0;
  }

  #recent(key: string): readonly number[] {
    const since = this.#options.clock.monotonic() - this.#options.windowMs;
    return this.#counts.get(key)?.failures.filter((at) => at > since) ?? [];
  }

  /** Keeps the map in the order of the last change. */
  #keep(key: string, count: Count): void {
    const { mostKeys = 10_000 } = this.#options;
    this.#counts.delete(key);
    if (count.failures.length === 0 && count.pending === 0) {
      return;
    }
    if (this.#counts.size >= mostKeys) {
      this.#counts.delete(this.#counts.keys().next().value!);
    }
    this.#counts.set(key, count);
  }
}
