import { setMaxListeners } from 'node:events';

import type { LinesAnswer, LogQueries } from 'svc/contracts/logs';
import type { FoundTraces, TraceQueries } from 'svc/contracts/traces';
import type {
  Enforced,
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
  readonly traces: Handle<TraceQueries>;
}

/** Throws unless the asker may read the store. */
export type RequireRead = (area: 'metricsdb' | 'logs' | 'traces') => void;

/** Stores that compute figures. */
type FigureStore = Exclude<keyof Stores, 'traces'>;

export interface Terms {
  readonly window: Window;
  /** Asker, with what they may see. */
  readonly asking: Omit<Asking, 'enforce'> & { readonly enforce?: readonly Enforced[] };
  readonly requireRead: RequireRead;
  /** Aborts at the deadline and when the client leaves. */
  readonly signal: AbortSignal;
  /** Milliseconds until the deadline. */
  readonly left: () => number;
}

export const mostLines = 200;
export const mostTraces = 100;
const atOnce = 4;
/** A dashboard of hundreds of panels asks for each query, and for each metric of those without an answer. */
const waiting = 10_000;
const mostSamples = 20_000_000;

/**
 * Queries of one dashboard's panels. Identical ones are sent once, however many panels share them.
 */
export class Questions {
  readonly #stores: Stores;
  readonly #terms: Terms;
  readonly #gate: ReturnType<typeof queryGate>;
  readonly #asked = new Map<string, Promise<unknown>>();

  constructor(stores: Stores, terms: Terms, gate = queryGate({ atOnce, waiting })) {
    this.#stores = stores;
    this.#gate = gate;
    this.#terms = terms;
    // As many as there are questions listen to it, and leave when they are answered.
    setMaxListeners(0, terms.signal);
  }

  /** Asks for values over the window, `step` apart. */
  range(
    query: string,
    store: FigureStore = 'metrics',
    step = this.#terms.window.step,
  ): Promise<MatrixAnswer & Notes> {
    const { from, to } = this.#terms.window;
    // Multiples of the step, as those of the window itself are.
    const [start, end] = [Math.floor(from / step) * step, Math.floor(to / step) * step];
    return this.#once(`range ${store} ${step} ${query}`, async (options) =>
      store === 'metrics'
        ? await this.#metrics().range(query, { start, end, step }, options)
        : await this.#logs().range(query, { start, end: end + 1, step }, options),
    );
  }

  /** Asks for values at the end of the window. */
  instant(query: string, store: FigureStore = 'metrics'): Promise<InstantAnswer> {
    const { to } = this.#terms.window;
    return this.#once(`instant ${store} ${query}`, async (options) =>
      store === 'metrics'
        ? await this.#metrics().instant(query, to, options)
        : await this.#logs().instant(query, to, options),
    );
  }

  lines(query: string): Promise<LinesAnswer> {
    const { from, to } = this.#terms.window;
    return this.#once(`lines ${query}`, async (options) => {
      // One more than is shown reveals whether there are more.
      const wanted = { ...options, limit: mostLines + 1, direction: 'backward' } as const;
      // The last millisecond belongs to the window of a dashboard.
      return await this.#logs().lines(query, { start: from, end: to + 1 }, wanted);
    });
  }

  /** Traces that were found in the window, newest first. */
  traces(query: string): Promise<FoundTraces> {
    const { from, to } = this.#terms.window;
    return this.#once(`traces ${query}`, async (options) => {
      // One more than is shown reveals whether there are more.
      const wanted = { ...options, limit: mostTraces + 1 };
      return await this.#traces().search(query, { start: from, end: to + 1 }, wanted);
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

  /** Values of a label of the logs in the window. */
  logLabelValues(label: string, selector?: string): Promise<readonly string[]> {
    const { from, to } = this.#terms.window;
    return this.#once(`log values ${label} ${selector}`, async ({ asker, enforce }) => {
      const options = {
        asker,
        ...(enforce && { enforce }),
        ...(selector !== undefined && { query: selector }),
      };
      return await this.#logs().labelValues(label, { start: from, end: to + 1 }, options);
    });
  }

  logLabels(): Promise<readonly string[]> {
    const { from, to } = this.#terms.window;
    return this.#once(
      'log labels',
      async ({ asker, enforce }) =>
        await this.#logs().labels(
          { start: from, end: to + 1 },
          { asker, ...(enforce && { enforce }) },
        ),
    );
  }

  /** Returns the same questions with matchers that every query gets besides its own. */
  narrowed(filters: readonly Enforced[]): Questions {
    if (filters.length === 0) {
      return this;
    }
    const { asking } = this.#terms;
    return new Questions(
      this.#stores,
      { ...this.#terms, asking: { ...asking, enforce: [...(asking.enforce ?? []), ...filters] } },
      this.#gate,
    );
  }

  #logs(): LogQueries {
    this.#terms.requireRead('logs');
    return provider(this.#stores.logs, 'logs');
  }

  #traces(): TraceQueries {
    this.#terms.requireRead('traces');
    return provider(this.#stores.traces, 'traces');
  }

  #metrics(): MetricsQueries {
    this.#terms.requireRead('metricsdb');
    return provider(this.#stores.metrics, 'metrics');
  }

  #once<T>(
    key: string,
    ask: (
      options: Terms['asking'] &
        Required<Pick<QueryOptions, 'signal' | 'timeoutMs' | 'maxSamples'>>,
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

const names = { metrics: 'metricsdb', logs: 'logs', traces: 'traces' } as const;

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
