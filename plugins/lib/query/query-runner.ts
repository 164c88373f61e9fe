import type { ConcurrencyGate } from 'svc/flow';

import { type Budget, budget } from './budget.ts';
import { queryGate } from './gate.ts';

/** What each query of a store may use up, and how many of them run at a time. */
export interface RunnerLimits {
  readonly timeoutMs: number;
  readonly maxSamples?: number;
  readonly maxBytes?: number;
  readonly atOnce?: number;
}

/** Who asks, and for how much less than the limits. */
export interface QueryCall {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly maxSamples?: number | undefined;
}

export interface QueryLoad {
  readonly running: number;
  readonly waiting: number;
  /** Since the start. */
  readonly asked: number;
}

/** Runs the queries of a store's thread, a few at a time, each with a budget. */
export class QueryRunner<Limits extends RunnerLimits = RunnerLimits> {
  readonly #now: () => number;
  #limits: Limits;
  #gate: ConcurrencyGate;
  #asked = 0;

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#gate = gateOf(limits);
  }

  get limits(): Limits {
    return this.#limits;
  }

  set limits(limits: Limits) {
    // Queries that wait at the old gate are let in by it.
    this.#gate = limits.atOnce === this.#limits.atOnce ? this.#gate : gateOf(limits);
    this.#limits = limits;
  }

  get load(): QueryLoad {
    return { running: this.#gate.running, waiting: this.#gate.waiting, asked: this.#asked };
  }

  run<T>(call: QueryCall, work: (budget: Budget) => Promise<T>): Promise<T> {
    this.#asked += 1;
    return this.#gate.run(() => work(this.budget(call)), call.signal);
  }

  /** What one query may use up, from now on. */
  budget({ signal, timeoutMs = Infinity, maxSamples = Infinity }: QueryCall): Budget {
    const limits = this.#limits;
    const samples = Math.min(maxSamples, limits.maxSamples ?? Infinity);
    return budget({
      timeoutMs: Math.min(timeoutMs, limits.timeoutMs),
      ...(samples < Infinity && { maxSamples: samples }),
      ...(limits.maxBytes !== undefined && { maxBytes: limits.maxBytes }),
      signal,
      now: this.#now,
    });
  }
}

const gateOf = ({ atOnce }: RunnerLimits): ConcurrencyGate => queryGate(atOnce === undefined ? {} : { atOnce });
