import { type Clock, isSvcError, messageOf, type ThreadCall, type ThreadHandle } from 'svc/sdk';
import { memoryOf } from 'svc/store';

import type { DriverStatus, TraceDriver } from './driver.ts';
import type { TempoQuestion } from './tempo/question.ts';
import type { StoreStatus } from './thread-contract.ts';

/** A little more than any query may take in the thread: its own deadline is the one that says why. */
const patienceMs = 5 * 60_000 + 10_000;
const statusMs = 5_000;

const methods: Readonly<Record<TempoQuestion['kind'], string>> = {
  search: 'searchJson',
  tags: 'tagsJson',
  values: 'tagValuesJson',
  range: 'metricsJson',
  instant: 'instantJson',
};

/** Asks the thread of this plugin. */
export function embeddedDriver(thread: ThreadHandle, clock: Clock): TraceDriver {
  const within = (signal: AbortSignal | undefined): ThreadCall => ({ timeoutMs: patienceMs, ...(signal && { signal }) });

  return {
    answer: ({ kind, input }, signal) => thread.call(methods[kind], input, within(signal)),
    trace: (traceId, form, { signal, ...options } = {}) => thread.call('trace', { traceId, form, ...options }, within(signal)),
    search: (query, { start, end }, { signal, ...options } = {}) => thread.call('search', { query, start, end, ...options }, within(signal)),
    tagValues: (tag, { start, end }, options = {}) => thread.call('tagValues', { tag, start, end, ...options }, within(undefined)),
    metrics: (query, { start, end, step }, { signal, ...options } = {}) => thread.call('metrics', { query, start, end, step, ...options }, within(signal)),
    push: (format, body, { signal, given = false, ...options }) =>
      thread.call('push', { format, body, ...options }, { ...within(signal), transfer: given ? memoryOf(body) : [] }),
    async status(): Promise<DriverStatus> {
      const began = clock.monotonic();
      const state = { driver: 'embedded' } as const;
      try {
        const { trouble, damagedBlocks } = await thread.call<StoreStatus>('status', undefined, { timeoutMs: statusMs });
        const detail = trouble ?? (damagedBlocks > 0 ? `${damagedBlocks} blocks cannot be read; the log tells which` : undefined);
        return { ...state, ok: detail === undefined, delayMs: clock.monotonic() - began, ...(detail !== undefined && { detail }) };
      } catch (error) {
        return { ...state, ok: false, detail: messageOf(error), delayMs: clock.monotonic() - began, ...(isSvcError(error) && { code: error.code }) };
      }
    },
  };
}
