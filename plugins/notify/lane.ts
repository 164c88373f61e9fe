import type { Clock } from 'svc/sdk';

import { asOf, kept, type Limit, waitFor } from './pace.ts';
import type { Delivery, StateRow } from './tables.ts';

/** What is known of one channel while it is told things, one at a time. Waits are on the clock that never jumps. */
export interface Lane<U> {
  busy: boolean;
  limits: readonly Limit[];
  /** A try that is not written down yet. */
  unsaved: U | undefined;
  /** How long the platform lets nothing through. */
  wait(): number;
  waitOf(row: Delivery): number;
  /** The delivery of this number waits so long from now. */
  hold(seq: number, ms: number): void;
  /** A message goes out now. */
  note(): void;
  /** The stamps for the next process, with one more, on the wall clock. */
  recentWith(wallNow: number): readonly number[];
  block(ms: number): void;
  unblock(): void;
}

/** The longest that a stored block is believed after a restart: the clock may have been set. */
const longestBlockMs = 3_600_000;
const mostWaits = 500;

export function openLane<U>(state: StateRow | undefined, clock: Clock): Lane<U> {
  const wallNow = clock.now();
  let stamps = asOf(state === undefined ? [] : (JSON.parse(state.recent) as number[]), wallNow, clock.monotonic());
  let blockedUntil = clock.monotonic() + Math.min(Math.max(0, (state?.blocked_until ?? 0) - wallNow), longestBlockMs);
  /** When deliveries may be tried again, by their number. */
  const waits = new Map<number, number>();
  const hold = (seq: number, ms: number): void => {
    waits.delete(seq);
    if (ms > 0) {
      waits.set(seq, clock.monotonic() + ms);
    }
    // Some end without another try; theirs go when there are many.
    if (waits.size > mostWaits) {
      [...waits].filter(([, due]) => due <= clock.monotonic()).forEach(([old]) => waits.delete(old));
    }
  };
  return {
    busy: false,
    limits: [],
    unsaved: undefined,
    wait() {
      const now = clock.monotonic();
      return Math.max(blockedUntil - now, waitFor(this.limits, stamps, now));
    },
    waitOf({ seq, due_at: dueAt, wait_ms: waitMs }) {
      if (!waits.has(seq)) {
        // Of the process before this one; no clock that was set makes it longer than it was.
        hold(seq, Math.min(Math.max(0, dueAt - clock.now()), waitMs));
      }
      return (waits.get(seq) ?? -Infinity) - clock.monotonic();
    },
    hold,
    note() {
      stamps = kept(this.limits, [...stamps, clock.monotonic()]);
    },
    recentWith(at) {
      const now = clock.monotonic();
      return kept(this.limits, [...stamps.map((stamp) => Math.round(at - (now - stamp))), at]);
    },
    block: (ms) => void (blockedUntil = clock.monotonic() + ms),
    unblock: () => void (blockedUntil = -Infinity),
  };
}
