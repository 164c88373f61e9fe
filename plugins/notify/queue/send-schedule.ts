import type { Clock } from 'svc/sdk';

import type { Delivery, StateRow } from '../store/tables.ts';

/** The longest that a stored block is believed after a restart: the clock may have been set. */
const longestBlockMs = 3_600_000;
const fewWaits = 500;

/** When one channel may be sent to, and each of its deliveries tried. Waits are on the clock that never jumps. */
export class SendSchedule {
  readonly #clock: Clock;
  #limits: readonly Limit[] = [];
  #sends: readonly number[];
  #blockedUntil: number;
  /** End of each delivery's wait by its number, with the `due_at` it was computed from: a changed row is computed again. */
  readonly #waits = new Map<number, { readonly dueAt: number; readonly until: number }>();
  #maxWaits = fewWaits;

  constructor(state: StateRow | undefined, clock: Clock) {
    const wallNow = clock.now();
    this.#clock = clock;
    this.#sends = asOf(
      state === undefined ? [] : (JSON.parse(state.recent) as number[]),
      wallNow,
      clock.monotonic(),
    );
    this.#blockedUntil =
      clock.monotonic() +
      Math.min(Math.max(0, (state?.blocked_until ?? 0) - wallNow), longestBlockMs);
  }

  set limits(limits: readonly Limit[]) {
    this.#limits = limits;
  }

  /** Milliseconds until the platform lets the next message through. */
  get waitMs(): number {
    const now = this.#clock.monotonic();
    return Math.max(this.#blockedUntil - now, waitFor(this.#limits, this.#sends, now));
  }

  /** Milliseconds for which the platform has asked to be left alone. */
  get blockedMs(): number {
    return Math.max(0, this.#blockedUntil - this.#clock.monotonic());
  }

  /** True if optional parts may be sent as well: half of every window is reserved for messages. */
  get hasRoomToSpare(): boolean {
    const now = this.#clock.monotonic();
    const halves = this.#limits.map(({ count, per_ms }) => ({
      count: Math.ceil(count / 2),
      per_ms,
    }));
    return this.#blockedUntil <= now && waitFor(halves, this.#sends, now) <= 0;
  }

  /** Milliseconds until this one may be tried, or tried again. */
  retryWaitMs({ seq, due_at: dueAt, wait_ms: waitMs }: Delivery): number {
    const now = this.#clock.monotonic();
    let wait = this.#waits.get(seq);
    if (wait?.dueAt !== dueAt) {
      // No clock that was set makes it longer than it was.
      const left = Math.min(Math.max(0, dueAt - this.#clock.now()), waitMs);
      wait = { dueAt, until: now + left };
      this.#waits.set(seq, wait);
      this.#dropOldWaits(now);
    }
    return wait.until - now;
  }

  /** Sets the wait of a delivery whose row will have this `due_at`. */
  retryAfter({ seq }: Pick<Delivery, 'seq'>, ms: number, dueAt: number): void {
    this.#waits.set(seq, { dueAt, until: this.#clock.monotonic() + ms });
  }

  /** Drops the wait of a delivery that is tried now. */
  tried(seq: number): void {
    this.#waits.delete(seq);
  }

  /** Drops waits of deliveries that ended without another try, once there are many. */
  #dropOldWaits(now: number): void {
    if (this.#waits.size > this.#maxWaits) {
      [...this.#waits]
        .filter(([, { until }]) => until <= now)
        .forEach(([seq]) => this.#waits.delete(seq));
      this.#maxWaits = Math.max(fewWaits, 2 * this.#waits.size);
    }
  }

  recordSend(): void {
    this.#sends = kept(this.#limits, [...this.#sends, this.#clock.monotonic()]);
  }

  /** The sends for the next process, with one more, on the wall clock. */
  sendTimesWith(wallNow: number): readonly number[] {
    const now = this.#clock.monotonic();
    return kept(this.#limits, [
      ...this.#sends.map((sent) => Math.round(wallNow - (now - sent))),
      wallNow,
    ]);
  }

  block(ms: number): void {
    this.#blockedUntil = this.#clock.monotonic() + ms;
  }

  unblock(): void {
    this.#blockedUntil = -Infinity;
  }
}

/** Rate limit of a platform: `count` messages in any `per_ms`. */
export interface Limit {
  readonly count: number;
  readonly per_ms: number;
}

/** Returns how long a message must wait so that no window exceeds its limit; `stamps` ascending. */
export function waitFor(limits: readonly Limit[], stamps: readonly number[], now: number): number {
  const waits = limits.map(({ count, per_ms: perMs }) => {
    const oldest = stamps[stamps.length - count];
    return oldest === undefined ? 0 : oldest + perMs - now;
  });
  return Math.max(0, ...waits);
}

/** The stamps that a limit may still ask about. */
export function kept(limits: readonly Limit[], stamps: readonly number[]): readonly number[] {
  return stamps.slice(-Math.max(1, ...limits.map(({ count }) => count)));
}

/** Stamps of the wall clock in terms of one that never jumps; what lies ahead has just been. */
export function asOf(
  wallStamps: readonly number[],
  wallNow: number,
  now: number,
): readonly number[] {
  return wallStamps.map((at) => now - Math.max(0, wallNow - at)).sort((a, b) => a - b);
}
