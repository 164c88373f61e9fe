import type { Clock } from 'svc/sdk';

import { accessTokenMs } from './lifetimes.ts';
import type { Store } from './store.ts';

/** Sessions that ended so lately that an access token of theirs could still be good. */
export interface Revocations {
  has(sessionId: string): boolean;
  add(sessionId: string): void;
  /** Learns what ended before this generation, and forgets what has outlived its tokens. */
  refresh(): Promise<void>;
}

export function createRevocations(store: Store, clock: Clock): Revocations {
  const ended = new Map<string, number>();
  return {
    has: (sessionId) => ended.has(sessionId),
    add: (sessionId) => void ended.set(sessionId, clock.now()),
    async refresh() {
      const since = clock.now() - accessTokenMs;
      for (const { id, ended_at: at } of await store.read.endedSince(since)) {
        ended.set(id, at!);
      }
      for (const [id, at] of ended) {
        if (at <= since) {
          ended.delete(id);
        }
      }
    },
  };
}
