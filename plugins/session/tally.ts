import type { Clock } from 'svc/sdk';

/** Failures of late, by who failed. */
export interface Tally {
  /** How long this key must wait; 0 when it may try now. */
  waitMs(key: string): number;
  /** Counts a try as a failure until its end says otherwise, so that tries at the same time cannot outrun the limit. */
  begin(key: string): (failed: boolean) => void;
  clear(key: string): void;
}

export interface TallyOptions {
  readonly limit: number;
  readonly windowMs: number;
  readonly clock: Clock;
  /** Keys that are watched at once; the one that failed longest ago makes room. */
  readonly mostKeys?: number;
}

interface Count {
  failures: readonly number[];
  pending: number;
}

/** How long to wait for tries that are under way. */
const pendingMs = 1_000;

export function createTally({ limit, windowMs, clock, mostKeys = 10_000 }: TallyOptions): Tally {
  const counts = new Map<string, Count>();

  function recent(key: string): readonly number[] {
    const since = clock.monotonic() - windowMs;
    return counts.get(key)?.failures.filter((at) => at > since) ?? [];
  }

  /** Keeps the map in the order of the last change. */
  function keep(key: string, count: Count): void {
    counts.delete(key);
    if (count.failures.length === 0 && count.pending === 0) {
      return;
    }
    if (counts.size >= mostKeys) {
      counts.delete(counts.keys().next().value!);
    }
    counts.set(key, count);
  }

  return {
    waitMs(key) {
      const failures = recent(key);
      if (failures.length >= limit) {
        return failures[0]! + windowMs - clock.monotonic();
      }
      return failures.length + (counts.get(key)?.pending ?? 0) >= limit ? pendingMs : 0;
    },
    begin(key) {
      keep(key, { failures: recent(key), pending: (counts.get(key)?.pending ?? 0) + 1 });
      return (failed) => {
        const failures = failed ? [...recent(key), clock.monotonic()] : recent(key);
        keep(key, { failures, pending: Math.max(0, (counts.get(key)?.pending ?? 0) - 1) });
      };
    },
    clear(key) {
      keep(key, { failures: [], pending: counts.get(key)?.pending ?? 0 });
    },
  };
}
