import type { Clock } from 'svc/sdk';

import type { Rows, Store } from '../store/store.ts';

/** Max uses collected; the rest of a busier minute goes unrecorded until its next use. */
const mostGathered = 10_000;
const batchSize = 200;

/** When sessions and API tokens were last used: gathered in memory, because a request must not cost a write. */
export class Uses {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, number>();
  readonly #apiTokens = new Map<number, number>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  session(id: string): void {
    this.#note(this.#sessions, id);
  }

  apiToken(id: number): void {
    this.#note(this.#apiTokens, id);
  }

  /** Stores what was collected. */
  async flush(): Promise<void> {
    await this.#write(this.#sessions, (rows, id, at) => rows.sessions.noteUse(id, at));
    await this.#write(this.#apiTokens, (rows, id, at) => rows.apiTokens.noteUse(id, at));
  }

  #note<K>(gathered: Map<K, number>, id: K): void {
    if (gathered.size < mostGathered || gathered.has(id)) {
      gathered.set(id, this.#clock.now());
    }
  }

  async #write<K>(
    gathered: Map<K, number>,
    noteUse: (rows: Rows, id: K, at: number) => Promise<void>,
  ): Promise<void> {
    const all = [...gathered];
    gathered.clear();
    for (let from = 0; from < all.length; from += batchSize) {
      await this.#store.write(async (rows) => {
        for (const [id, at] of all.slice(from, from + batchSize)) {
          await noteUse(rows, id, at);
        }
      });
    }
  }
}
