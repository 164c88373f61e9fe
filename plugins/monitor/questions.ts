import { setMaxListeners } from 'node:events';

import { type Handle, SvcError } from 'svc/sdk';
import { queryGate } from 'svc/query';

import type { LinesAnswer, LogQueries } from '../logs/contract.ts';
import type { InstantAnswer, LabelRecord, MatrixAnswer, MetricsQueries, Notes } from '../metricsdb/contract.ts';
import type { Window } from './window.ts';

export interface Stores {
  readonly metrics: Handle<MetricsQueries>;
  readonly logs: Handle<LogQueries>;
}

/** What the panels of one dashboard ask the stores. The same question is asked once, however many panels have it. */
export interface Questions {
  range(query: string): Promise<MatrixAnswer & Notes>;
  instant(query: string): Promise<InstantAnswer>;
  lines(query: string): Promise<LinesAnswer>;
  /** Series of a selector in the window, or since `from`. */
  series(selector: string, from?: number): Promise<readonly LabelRecord[]>;
}

export interface Terms {
  readonly window: Window;
  /** Aborts at the deadline and when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Milliseconds until the deadline. */
  readonly left: () => number;
}

export const mostLines = 200;
const atOnce = 4;
const waiting = 1_000;
const mostSamples = 20_000_000;

export function questions({ metrics, logs }: Stores, { window, signal, left }: Terms): Questions {
  const gate = queryGate({ atOnce, waiting });
  const asked = new Map<string, Promise<unknown>>();
  // As many as there are questions listen to it, and leave when they are answered.
  setMaxListeners(0, signal);

  function once<T>(key: string, ask: (options: { signal: AbortSignal; timeoutMs: number; maxSamples: number }) => Promise<T>): Promise<T> {
    let answer = asked.get(key) as Promise<T> | undefined;
    if (answer === undefined) {
      const options = () => ({ signal, timeoutMs: Math.max(1, left()), maxSamples: mostSamples });
      answer = gate.run(() => untilAborted(ask(options()), signal), signal);
      asked.set(key, answer);
    }
    return answer;
  }

  const { start, end, step, from, to } = window;
  return {
    range: (query) => once(`range ${query}`, async (options) => await provider(metrics, 'metrics').range(query, { start, end, step }, options)),
    instant: (query) => once(`instant ${query}`, async (options) => await provider(metrics, 'metrics').instant(query, to, options)),
    // The last millisecond belongs to the window of a dashboard.
    lines: (query) =>
      once(`lines ${query}`, async (options) => {
        // One more than is shown tells whether there are more.
        const wanted = { ...options, limit: mostLines + 1, direction: 'backward' } as const;
        return await provider(logs, 'logs').lines(query, { start: from, end: to + 1 }, wanted);
      }),
    series: (selector, since = from) =>
      once(`series ${since} ${selector}`, async (options) => await provider(metrics, 'metrics').series([selector], { start: since, end: to }, options)),
  };
}

const names = { metrics: 'metricsdb', logs: 'logs' } as const;

function provider<T>(handle: Handle<T>, signal: keyof typeof names): T {
  if (!handle.available) {
    throw new SvcError('unavailable', `there is no store of ${signal} at the moment: the plugin ${names[signal]} brings it, and is not up`);
  }
  return handle.get();
}

/** Leaves when the signal says so, whatever the work does. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
