import type { PushAnswer } from 'svc/contracts/metricsdb';
import type { Handle } from 'svc/sdk';

import { Backlog, type BacklogLimits } from './backlog.ts';
import type { Delivery, Signal } from './delivery.ts';

export interface FeedParts<S, T> extends BacklogLimits<T> {
  readonly signal: Signal;
  readonly delivery: Pick<Delivery, 'deliver' | 'countLost'>;
  readonly store: Handle<S>;
  readonly batch: number;
  readonly give: (store: S, items: readonly T[]) => Promise<PushAnswer>;
}

/** Feed of one signal into its store. Rounds do not overlap, so that nothing is stored twice. */
export class Feed<S, T> {
  readonly #parts: FeedParts<S, T>;
  readonly #waiting: Backlog<T>;
  #round: Promise<void> | undefined;

  constructor(parts: FeedParts<S, T>) {
    this.#parts = parts;
    this.#waiting = new Backlog(parts);
  }

  add(item: T): void {
    this.#countLost(this.#waiting.add(item));
  }

  /** Gives what waits to the store, batch by batch; what cannot be stored now waits on. */
  flush(): Promise<void> {
    this.#round ??= this.#deliver().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Drops what waits. */
  clear(): void {
    this.#waiting.take(this.#waiting.size);
  }

  async #deliver(): Promise<void> {
    const { signal, delivery, store, batch, give } = this.#parts;
    // What arrives meanwhile waits for the next round, or a round might never end.
    for (let left = this.#waiting.size; left > 0 && store.available; left -= batch) {
      const items = this.#waiting.take(Math.min(batch, left));
      if (!(await delivery.deliver(signal, store, items.length, (to) => give(to, items)))) {
        this.#countLost(this.#waiting.restore(items));
        return;
      }
    }
  }

  #countLost(count: number): void {
    if (count > 0) {
      this.#parts.delivery.countLost(this.#parts.signal, count, 'full');
    }
  }
}
