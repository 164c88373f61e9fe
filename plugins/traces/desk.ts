import { type Budget, budget, type QueryGate, queryGate } from 'svc/query';

import type { TracesStore } from './store/store.ts';
import type { Asked, Call } from './thread-contract.ts';

export interface DeskLimits {
  readonly timeoutMs: number;
  /** Spans that one question may look at. */
  readonly maxSpans: number;
}

/** Gives every question its turn and its budget. */
export class Desk {
  readonly #store: TracesStore;
  readonly #now: () => number;
  readonly #gate: QueryGate = queryGate();
  limits: DeskLimits;
  asked = 0;

  constructor(store: TracesStore, limits: DeskLimits, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.limits = limits;
  }

  get gate(): Pick<QueryGate, 'running' | 'waiting'> {
    return this.#gate;
  }

  ask<T>({ timeoutMs, maxSamples }: Asked, { signal }: Call, question: (budget: Budget) => Promise<T>): Promise<T> {
    return this.#gate.run(() => {
      this.asked += 1;
      const { timeoutMs: longest, maxSpans } = this.limits;
      const cost = budget({
        timeoutMs: Math.min(timeoutMs ?? longest, longest),
        maxSamples: Math.min(maxSamples ?? maxSpans, maxSpans),
        signal,
        now: this.#now,
      });
      return this.#store.read(() => question(cost));
    }, signal);
  }
}
