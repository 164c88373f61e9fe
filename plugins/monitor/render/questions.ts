import { setMaxListeners } from 'node:events';

import type { LinesAnswer, LogQueries } from 'svc/contracts/logs';
import type {
  InstantAnswer,
  LabelRecord,
  MatrixAnswer,
  MetricsQueries,
  Notes,
  QueryOptions,
} from 'svc/contracts/metricsdb';
import { type Asking, queryGate } from 'svc/query';
import type { Handle } from 'svc/sdk';

import { errors } from '../model/errors.ts';
import type { Window } from './window.ts';

export interface Stores {
  readonly metrics: Handle<MetricsQueries>;
  readonly logs: Handle<LogQueries>;
}

/** Throws unless the asker may read the store. */
export type RequireRead = (area: 'metricsdb' | 'logs') => void;

export interface Terms {
  readonly window: Window;
  /** Asker, with what they may see. */
  readonly asking: Asking;
  readonly requireRead: RequireRead;
  /** Aborts at the deadline and when the client leaves. */
  readonly signal: AbortSignal;
  /** Milliseconds until the deadline. */
  readonly left: () => number;
}

export const mostLines = 200;
const atOnce = 4;
const waiting = 1_000;
const mostSamples = 20_000_000;

/**
 * Queries of one dashboard's panels. Identical ones are sent once, however many panels share them.
 */
export class Questions {
  readonly #stores: Stores;
  readonly #terms: Terms;
  readonly #gate = queryGate({ atOnce, waiting });
  readonly #asked = new Map<string, Promise<unknown>>();

  constructor(stores: Stores, terms: Terms) {
    this.#stores = stores;
    this.#terms = terms;
    // As many as there are questions listen to it, and leave when they are answered.
    setMaxListeners(0, terms.signal);
  }

  range(query: string): Promise<MatrixAnswer & Notes> {
    const { start, end, step } = this.#terms.window;
    return this.#once(
      `range ${query}`,
      async (options) => await this.#metrics().range(query, { start, end, step }, options),
    );
  }

  instant(query: string): Promise<InstantAnswer> {
    return this.#once(
      `instant ${query}`,
      async (options) => await this.#metrics().instant(query, this.#terms.window.to, options),
    );
  }

  lines(query: string): Promise<LinesAnswer> {
    const { from, to } = this.#terms.window;
    return this.#once(`lines ${query}`, async (options) => {
      // One more than is shown reveals whether there are more.
      const wanted = { ...options, limit: mostLines + 1, direction: 'backward' } as const;
      // The last millisecond belongs to the window of a dashboard.
      this.#terms.requireRead('logs');
      return await provider(this.#stores.logs, 'logs').lines(
        query,
        { start: from, end: to + 1 },
        wanted,
      );
    });
  }

  /** Series of a selector in the window, or since `from`. */
  series(selector: string, from = this.#terms.window.from): Promise<readonly LabelRecord[]> {
    const { to } = this.#terms.window;
    return this.#once(
      `series ${from} ${selector}`,
      async (options) =>
        await this.#metrics().series([selector], { start: from, end: to }, options),
    );
  }

  /** Names of the metrics that a query reads. */
  metricNames(query: string): Promise<readonly string[]> {
    return this.#once(`metrics ${query}`, async () => (await this.#metrics().check(query)).metrics);
  }

  #metrics(): MetricsQueries {
    this.#terms.requireRead('metricsdb');
    return provider(this.#stores.metrics, 'metrics');
  }

  #once<T>(
    key: string,
    ask: (
      options: Asking & Required<Pick<QueryOptions, 'signal' | 'timeoutMs' | 'maxSamples'>>,
    ) => Promise<T>,
  ): Promise<T> {
    const { asking, signal, left } = this.#terms;
    let answer = this.#asked.get(key) as Promise<T> | undefined;
    if (answer === undefined) {
      const options = () => ({
        ...asking,
        signal,
        timeoutMs: Math.max(1, left()),
        maxSamples: mostSamples,
      });
      answer = this.#gate.run(() => untilAborted(ask(options()), signal), signal);
      this.#asked.set(key, answer);
    }
    return answer;
  }
}

const names = { metrics: 'metricsdb', logs: 'logs' } as const;

function provider<T>(handle: Handle<T>, signal: keyof typeof names): T {
  if (!handle.available) {
    throw errors.no_store({ signal, names: names[signal] });
  }
  return handle.get();
}

/** Rejects when the signal aborts, whatever the work does. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
