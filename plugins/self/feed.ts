import type { Handle } from 'svc/sdk';

import type { PushAnswer } from '../metricsdb/contract.ts';
import { Backlog, type BacklogLimits } from './backlog.ts';
import type { Keeper, Signal } from './keeper.ts';

export interface FeedParts<S, T> extends BacklogLimits<T> {
  readonly signal: Signal;
  readonly keeper: Keeper;
  readonly store: Handle<S>;
  readonly batch: number;
  readonly give: (store: S, items: readonly T[]) => Promise<PushAnswer>;
}

export interface Feed<T> {
  take(item: T): void;
  /** Gives what waits to the store, batch by batch; what cannot be kept now waits on. */
  flush(): Promise<void>;
  /** Lets go of what waits. */
  forget(): void;
}

/** The way of one signal into its store. Rounds do not overlap, so that nothing is given twice. */
export function createFeed<S, T>({ signal, keeper, store, batch, give, ...limits }: FeedParts<S, T>): Feed<T> {
  const waiting = new Backlog<T>(limits);
  let round: Promise<void> | undefined;

  const lost = (count: number): void => {
    if (count > 0) {
      keeper.lost(signal, count, 'full');
    }
  };
  async function run(): Promise<void> {
    // What comes in meanwhile has time until the next round, or a round might never end.
    for (let left = waiting.size; left > 0 && store.available; left -= batch) {
      const items = waiting.take(Math.min(batch, left));
      if (!(await keeper.keep(signal, store, items.length, (to) => give(to, items)))) {
        lost(waiting.restore(items));
        return;
      }
    }
  }
  return {
    take: (item) => lost(waiting.add(item)),
    flush: () => (round ??= run().finally(() => (round = undefined))),
    forget: () => void waiting.take(waiting.size),
  };
}
