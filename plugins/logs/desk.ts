import { type Budget, budget, type QueryGate, queryGate } from 'svc/query';

import type { LogSource } from './logql/index.ts';
import type { Cost } from './loki/answer.ts';
import type { LogStore } from './store/store.ts';

export interface DeskLimits {
  readonly timeoutMs: number;
  /** Of lines, unpacked, that one question may read. */
  readonly maxBytes: number;
}

export interface Question {
  readonly source: LogSource;
  readonly budget: Budget;
  /** What could not be read, once the answer is there. */
  readonly warnings: readonly string[];
  cost(): Cost;
}

export interface Asking {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly maxSamples?: number | undefined;
}

const mostWarnings = 10;

/** Gives every question its turn, its budget and its source. */
export class Desk {
  readonly #store: LogStore;
  readonly #now: () => number;
  readonly #gate: QueryGate = queryGate();
  limits: DeskLimits;
  asked = 0;

  constructor(store: LogStore, limits: DeskLimits, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.limits = limits;
  }

  get gate(): Pick<QueryGate, 'running' | 'waiting'> {
    return this.#gate;
  }

  ask<T>({ signal, timeoutMs, maxSamples }: Asking, work: (question: Question) => Promise<T>): Promise<T> {
    const came = this.#now();
    return this.#gate.run(async () => {
      const began = this.#now();
      this.asked += 1;
      const limits = budget({
        timeoutMs: Math.min(timeoutMs ?? this.limits.timeoutMs, this.limits.timeoutMs),
        maxBytes: this.limits.maxBytes,
        signal,
        now: this.#now,
        ...(maxSamples !== undefined && { maxSamples }),
      });
      const warnings: string[] = [];
      const source = this.#store.source((what) => void (warnings.length < mostWarnings && warnings.push(what)));
      const counted = countingSource(source);
      const cost = (): Cost => ({
        bytes: limits.spent.bytes,
        lines: counted.lines,
        seconds: (this.#now() - began) / 1_000,
        queuedSeconds: (began - came) / 1_000,
      });
      return await work({ source: counted, budget: limits, warnings, cost });
    }, signal);
  }
}

function countingSource(source: LogSource): LogSource & { lines: number } {
  const counting = {
    lines: 0,
    async *select(...asked: Parameters<LogSource['select']>) {
      for await (const batch of source.select(...asked)) {
        counting.lines += batch.entries.length;
        yield batch;
      }
    },
  };
  return counting;
}
