import { type Build, type Clock, messageOf, SvcError, type ThreadHandle } from 'svc/sdk';
import { memoryOf } from 'svc/store';

import type { BatchAnswer } from '../answers.ts';
import type { ThreadStats } from '../open-metrics.ts';
import type { MetricsSettings } from '../settings.ts';
import type { Asked, BatchQuestion, EndInput, PushInput, ServiceQuestion } from '../thread-contract.ts';
import type { Driver } from './driver.ts';
import { ownPage } from './status-pages.ts';

/** A little more than any query may take in the thread: its own deadline is the one that says why. */
export const patienceMs = 5 * 60_000 + 10_000;
const probeMs = 5_000;

export interface EmbeddedParts {
  readonly thread: ThreadHandle;
  readonly settings: MetricsSettings;
  readonly clock: Clock;
  readonly build: Build;
}

/** Asks the thread of this plugin. */
export function embeddedDriver({ thread, settings, clock, build }: EmbeddedParts): Driver {
  const startedAt = clock.now();
  const call = <R>(method: string, input: unknown, signal?: AbortSignal, transfer: readonly ArrayBuffer[] = []): Promise<R> =>
    thread.call<R>(method, input, { timeoutMs: patienceMs, transfer, ...(signal && { signal }) });
  const service = <R>(question: ServiceQuestion, signal?: AbortSignal): Promise<R> => call('service', question, signal);
  const stats = (): Promise<ThreadStats> => thread.call('stats', undefined, { timeoutMs: probeMs });

  return {
    name: 'embedded',
    ask: (asked: Asked, signal) => call('ask', asked, signal),
    instant: (query, time, { signal, ...options } = {}) => service({ kind: 'instant', query, time, options }, signal),
    async instants(queries, time, { signal, ...options } = {}) {
      const answers = await call<readonly BatchAnswer[]>('instants', { queries, time, options } satisfies BatchQuestion, signal);
      return answers.map((answer) => ('failed' in answer ? new SvcError(answer.failed, answer.message) : answer));
    },
    range: (query, { start, end, step }, { signal, ...options } = {}) => service({ kind: 'range', query, start, end, step, options }, signal),
    series: (matchers, { start, end }, { signal, ...options } = {}) => service({ kind: 'series', matchers, start, end, options }, signal),
    // Without the signal of its sender: the store takes a push as a whole, and sooner than anybody could take it back.
    push: (format, body, { encoding, stamp, given = false }) =>
      call('push', { format, body, encoding, stamp } satisfies PushInput, undefined, given ? memoryOf(body) : []),
    write: (rows) => call('write', rows),
    end: (matchers, time) => call('end', { matchers, time } satisfies EndInput),
    async page(page) {
      if (page !== 'tsdb') {
        return ownPage(page, { settings, build, startedAt });
      }
      const { store } = await stats();
      if (store === undefined) {
        throw new SvcError('unavailable', 'the embedded metrics store is not in use');
      }
      const headStats = { numSeries: store.series, chunkCount: store.blocks, minTime: finite(store.oldest), maxTime: finite(store.newest) };
      return JSON.stringify({ status: 'success', data: { headStats } });
    },
    health: async () => ({ ok: true, detail: damageOf(await stats()) ?? 'embedded' }),
    async probe() {
      try {
        const told = await stats();
        return { ok: told.store !== undefined, detail: damageOf(told) ?? `the embedded store holds ${told.store!.series} series`, version: build.version };
      } catch (error) {
        return { ok: false, detail: messageOf(error), code: 'unavailable' };
      }
    },
    state: () => ({ status: thread.state === 'running' ? 'running' : 'starting', url: `${build.publicUrl}/prometheus`, pid: process.pid, startedAt }),
    close: async () => undefined,
  };
}

/** What is wrong with the store; a damaged part costs its samples, not the rest. */
function damageOf({ store }: ThreadStats): string | undefined {
  return store === undefined ? 'no store is open' : store.damage.length === 0 ? undefined : store.damage.slice(0, 3).join('; ');
}

const finite = (time: number): number => (Number.isFinite(time) ? time : 0);
