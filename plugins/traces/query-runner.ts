import { type Budget, budget, type QueryGate, queryGate } from 'svc/query';

import type { TracesStore } from './store/store.ts';
import type { Asked, Call, QueryLimits } from './thread-contract.ts';

/** Runs the queries of the thread, a few at a time, each with a budget. */
export class QueryRunner {
  readonly #store: TracesStore;
  readonly #now: () => number;
  readonly #gate: QueryGate = queryGate();
  limits: QueryLimits;
  #started = 0;

  constructor(store: TracesStore, limits: QueryLimits, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.limits = limits;
  }

  get load(): { readonly running: number; readonly waiting: number; readonly asked: number } {
    return { running: this.#gate.running, waiting: this.#gate.waiting, asked: this.#started };
  }

  run<T>({ timeoutMs, maxSamples }: Asked, { signal }: Call, query: (budget: Budget) => Promise<T>): Promise<T> {
    return this.#gate.run(() => {
      this.#started += 1;
      const { timeoutMs: longest, maxSpans } = this.limits;
      const cost = budget({
        timeoutMs: Math.min(timeoutMs ?? longest, longest),
        maxSamples: Math.min(maxSamples ?? maxSpans, maxSpans),
        signal,
        now: this.#now,
      });
      return this.#store.read(() => query(cost));
    }, signal);
  }
}
