import { type Budget, budget, queryGate, type QueryGate } from 'svc/query';

import type { QueryLimits } from './thread-contract.ts';

export interface QueryCall {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly maxSamples?: number | undefined;
}

/** Runs the queries of the thread, a few at a time, each with a budget. */
export class QueryRunner {
  readonly #now: () => number;
  #limits: QueryLimits;
  #gate: QueryGate;
  #asked = 0;

  constructor(limits: QueryLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#gate = queryGate({ atOnce: limits.atOnce });
  }

  get limits(): QueryLimits {
    return this.#limits;
  }

  set limits(limits: QueryLimits) {
    // Queries that wait at the old gate are let in by it.
    this.#gate = limits.atOnce === this.#limits.atOnce ? this.#gate : queryGate({ atOnce: limits.atOnce });
    this.#limits = limits;
  }

  get load(): { readonly running: number; readonly waiting: number; readonly asked: number } {
    return { running: this.#gate.running, waiting: this.#gate.waiting, asked: this.#asked };
  }

  /** What one query may use up. */
  budget({ signal, timeoutMs, maxSamples }: QueryCall): Budget {
    const { timeoutMs: longest, maxSamples: most } = this.#limits;
    return budget({ timeoutMs: Math.min(timeoutMs ?? longest, longest), maxSamples: Math.min(maxSamples ?? most, most), signal, now: this.#now });
  }

  run<T>(call: QueryCall, work: (budget: Budget) => Promise<T>): Promise<T> {
    this.#asked += 1;
    return this.#gate.run(() => work(this.budget(call)), call.signal);
  }
}
