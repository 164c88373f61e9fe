import type { LogQueries } from 'svc/contracts/logs';
import type { InstantAnswer, MetricsQueries, QueryOptions } from 'svc/contracts/metricsdb';
import type { Handle, Scope } from 'svc/sdk';

import { type Ask, asError, lateError, type Within } from './back-end.ts';
import { errors } from './errors.ts';

/** Single questions to a store at the same time, where it takes no batches. */
const atOnce = 4;

interface Instants {
  instant(query: string, time: number, options?: QueryOptions): Promise<InstantAnswer>;
}

/** Asks the metrics store a batch at a time. */
export const askMetrics =
  (store: Handle<MetricsQueries>): Ask =>
  async (queries, time, options) => {
    const metrics = present(store, 'metrics');
    return queries.length === 1 || metrics.instants === undefined
      ? await askEach(store, 'metrics')(queries, time, options)
      : await metrics.instants(queries, time, options);
  };

/** Returns a function that asks a store with a few queries in parallel. */
export const askEach =
  (store: Handle<Instants>, name: string): Ask =>
  async (queries, time, options) => {
    const instants = present(store, name);
    const answers: (InstantAnswer | Error)[] = [];
    let next = 0;
    const asker = async (): Promise<void> => {
      while (next < queries.length) {
        const at = next++;
        answers[at] = await instants.instant(queries[at]!, time, options).catch(asError);
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, queries.length) }, asker));
    return answers;
  };

export const askLogs = (store: Handle<LogQueries>): Ask => askEach(store, 'logs');

function present<T>(store: Handle<T>, name: string): T {
  if (!store.available) {
    throw errors.no_store({ store: name });
  }
  return store.get();
}

/** Deadlines on the clock of the machine: a store that does not answer must not hold others up. */
export const withinScope =
  (scope: Pick<Scope, 'timeout'>): Within =>
  async (ms, what, work) => {
    const stop = new AbortController();
    let cancel: (() => unknown) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      cancel = scope.timeout(what, Math.max(1, ms), () => {
        const error = lateError(what, ms);
        reject(error);
        stop.abort(error);
      });
    });
    // A rejection after the deadline has no listener.
    const working = work(stop.signal);
    working.catch(() => undefined);
    try {
      return await Promise.race([working, late]);
    } finally {
      await cancel?.();
    }
  };
