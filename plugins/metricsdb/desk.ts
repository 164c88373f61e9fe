import { type Budget, budget, queryGate, type QueryGate } from 'svc/query';

import type { QueryLimits } from './thread-contract.ts';

export interface Asking {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly maxSamples?: number | undefined;
}

/** Gives every question its turn and its budget. */
export class Desk {
  readonly #now: () => number;
  #limits: QueryLimits;
  #gate: QueryGate;
  asked = 0;

  constructor(limits: QueryLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#gate = queryGate({ atOnce: limits.atOnce });
  }

  get limits(): QueryLimits {
    return this.#limits;
  }

  get gate(): Pick<QueryGate, 'running' | 'waiting'> {
    return this.#gate;
  }

  settle(limits: QueryLimits): void {
    // Who waits in the old line is served by it.
    this.#gate = limits.atOnce === this.#limits.atOnce ? this.#gate : queryGate({ atOnce: limits.atOnce });
    this.#limits = limits;
  }

  /** What one question may use up. */
  budget({ signal, timeoutMs, maxSamples }: Asking): Budget {
    const { timeoutMs: longest, maxSamples: most } = this.#limits;
    return budget({ timeoutMs: Math.min(timeoutMs ?? longest, longest), maxSamples: Math.min(maxSamples ?? most, most), signal, now: this.#now });
  }

  ask<T>(asking: Asking, work: (budget: Budget) => Promise<T>): Promise<T> {
    this.asked += 1;
    return this.#gate.run(() => work(this.budget(asking)), asking.signal);
  }
}
