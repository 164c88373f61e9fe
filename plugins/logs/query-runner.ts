import { type Budget, budget, type QueryGate, queryGate } from 'svc/query';

import type { LogSource } from './logql/index.ts';
import type { Cost } from './loki/answer.ts';
import type { LogStore } from './store/store.ts';
import type { QueryLimits } from './thread-contract.ts';

/** What one query reads from and may use up. */
export interface QueryRun {
  readonly source: LogSource;
  readonly budget: Budget;
  /** What could not be read, once the answer is there. */
  readonly warnings: readonly string[];
  cost(): Cost;
}

export interface QueryCall {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly maxSamples?: number | undefined;
}

const mostWarnings = 10;

/** Runs the queries of the thread, a few at a time, each with a budget and a source that counts what it reads. */
export class QueryRunner {
  readonly #store: LogStore;
  readonly #now: () => number;
  readonly #gate: QueryGate = queryGate();
  limits: QueryLimits;
  #started = 0;

  constructor(store: LogStore, limits: QueryLimits, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.limits = limits;
  }

  get load(): { readonly running: number; readonly waiting: number; readonly asked: number } {
    return { running: this.#gate.running, waiting: this.#gate.waiting, asked: this.#started };
  }

  run<T>({ signal, timeoutMs, maxSamples }: QueryCall, work: (run: QueryRun) => Promise<T>): Promise<T> {
    const came = this.#now();
    return this.#gate.run(async () => {
      const began = this.#now();
      this.#started += 1;
      const limits = budget({
        timeoutMs: Math.min(timeoutMs ?? this.limits.timeoutMs, this.limits.timeoutMs),
        maxBytes: this.limits.maxBytes,
        signal,
        now: this.#now,
        ...(maxSamples !== undefined && { maxSamples }),
      });
      const warnings: string[] = [];
      const source = new CountingSource(this.#store.source((what) => void (warnings.length < mostWarnings && warnings.push(what))));
      const cost = (): Cost => ({
        bytes: limits.spent.bytes,
        lines: source.lines,
        seconds: (this.#now() - began) / 1_000,
        queuedSeconds: (began - came) / 1_000,
      });
      return await work({ source, budget: limits, warnings, cost });
    }, signal);
  }
}

class CountingSource implements LogSource {
  readonly #source: LogSource;
  lines = 0;

  constructor(source: LogSource) {
    this.#source = source;
  }

  async *select(...asked: Parameters<LogSource['select']>): ReturnType<LogSource['select']> {
    for await (const batch of this.#source.select(...asked)) {
      this.lines += batch.entries.length;
      yield batch;
    }
  }
}
