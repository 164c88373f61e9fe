import {
  type Budget,
  type DeviceNameTable,
  nameLabel,
  type QueryCall,
  type QueryLoad,
  QueryRunner,
} from 'svc/query';

import type { LogSource } from '../logql/index.ts';
import type { LogStore } from '../store/store.ts';
import type { QueryLimits } from './contract.ts';

/** Cost of an answer, as clients show it with the result. */
export interface Cost {
  readonly bytes: number;
  readonly lines: number;
  readonly seconds: number;
  readonly queuedSeconds: number;
}

/** Sources and limits of one query. */
export interface LogQueryRun {
  readonly source: LogSource;
  readonly budget: Budget;
  /** Descriptions of what could not be read; grows until the answer is complete. */
  readonly warnings: readonly string[];
  cost(): Cost;
}

/** Runner of queries over a source that counts what it reads for them. */
export class LogQueryRunner {
  readonly #store: LogStore;
  readonly #now: () => number;
  readonly #names: DeviceNameTable;
  readonly #runner: QueryRunner<QueryLimits>;

  constructor(
    store: LogStore,
    limits: QueryLimits,
    { now, names }: { readonly now: () => number; readonly names: DeviceNameTable },
  ) {
    this.#store = store;
    this.#now = now;
    this.#names = names;
    this.#runner = new QueryRunner(limits);
  }

  set limits(limits: QueryLimits) {
    this.#runner.limits = limits;
  }

  get load(): QueryLoad {
    return this.#runner.load;
  }

  run<T>(call: QueryCall, work: (run: LogQueryRun) => Promise<T>): Promise<T> {
    const came = this.#now();
    return this.#runner.run(call, async (budget) => {
      const began = this.#now();
      const source = new CountingSource(namedSource(this.#store.source(), this.#names));
      const cost = (): Cost => ({
        bytes: budget.spent.bytes,
        lines: source.lines,
        seconds: (this.#now() - began) / 1_000,
        queuedSeconds: (began - came) / 1_000,
      });
      return await work({ source, budget, warnings: budget.warnings, cost });
    });
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

/** The source with names of devices joined to the streams of a selector that asks for them. */
const namedSource = (source: LogSource, names: DeviceNameTable): LogSource => ({
  async *select(matchers, ...asked) {
    if (names.isEmpty || !matchers.some(({ name }) => name === nameLabel)) {
      yield* source.select(matchers, ...asked);
      return;
    }
    for (const stored of names.stored(matchers)) {
      for await (const { labels, entries } of source.select(stored, ...asked)) {
        yield { labels: names.joined(labels), entries };
      }
    }
  },
});
