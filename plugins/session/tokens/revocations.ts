import type { Clock } from 'svc/sdk';

import { accessTokenMs } from '../store/lifetimes.ts';
import type { Store } from '../store/store.ts';

/** Sessions that ended so recently that an access token of theirs could still be valid. */
export class Revocations {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #ended = new Map<string, number>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  has(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  add(sessionId: string): void {
    this.#ended.set(sessionId, this.#clock.now());
  }

  /** Loads what ended before this generation, and drops what has outlived its tokens. */
  async refresh(): Promise<void> {
    const since = this.#clock.now() - accessTokenMs;
    for (const { id, ended_at: at } of await this.#store.read.sessions.endedSince(since)) {
      this.#ended.set(id, at!);
    }
    for (const [id, at] of this.#ended) {
      if (at <= since) {
        this.#ended.delete(id);
      }
    }
  }
}
