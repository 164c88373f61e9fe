import type { PushAnswer, QueryOptions } from 'svc/contracts/metricsdb';
import type { TraceSearchOptions, TraceWindow } from 'svc/contracts/traces';
import { type Clock, isSvcError, messageOf, type ThreadCall, type ThreadHandle } from 'svc/sdk';
import { memoryOf } from 'svc/store';

import type { TempoQuestion } from '../tempo/question.ts';
import type { StoreStatus, TraceForm } from '../thread/contract.ts';
import type { DriverStatus, TraceDriver } from './driver.ts';

/**
 * Time limit slightly beyond that of any query in the thread, whose own deadline states the reason.
 */
const patienceMs = 5 * 60_000 + 10_000;
/** A thread that is busy is not dead; who asks decides how long that is. */
const statusMs = 60_000;

const methods: Readonly<Record<TempoQuestion['kind'], string>> = {
  search: 'searchJson',
  tags: 'tagsJson',
  values: 'tagValuesJson',
  range: 'metricsJson',
  instant: 'instantJson',
};

/** Asks the thread of this plugin. */
export class EmbeddedTraces implements TraceDriver {
  readonly #thread: ThreadHandle;
  readonly #clock: Clock;

  constructor(thread: ThreadHandle, clock: Clock) {
    this.#thread = thread;
    this.#clock = clock;
  }

  answer(
    ...[{ kind, input }, { signal, ...asking }]: Parameters<TraceDriver['answer']>
  ): Promise<Uint8Array> {
    return this.#thread.call(methods[kind], { ...input, ...asking }, within(signal));
  }

  trace(
    traceId: string,
    form: TraceForm,
    { signal, ...options }: QueryOptions = {},
  ): Promise<Uint8Array | undefined> {
    return this.#thread.call('trace', { traceId, form, ...options }, within(signal));
  }

  search(
    query: string,
    { start, end }: TraceWindow,
    { signal, ...options }: TraceSearchOptions = {},
  ): ReturnType<TraceDriver['search']> {
    return this.#thread.call('search', { query, start, end, ...options }, within(signal));
  }

  tagValues(
    ...[tag, { start, end }, options = {}]: Parameters<TraceDriver['tagValues']>
  ): ReturnType<TraceDriver['tagValues']> {
    return this.#thread.call('tagValues', { tag, start, end, ...options }, within(undefined));
  }

  tagNames(
    ...[{ start, end }, options = {}]: Parameters<TraceDriver['tagNames']>
  ): ReturnType<TraceDriver['tagNames']> {
    return this.#thread.call('tagNames', { start, end, ...options }, within(undefined));
  }

  metrics(
    ...[query, { start, end, step }, { signal, ...options } = {}]: Parameters<
      TraceDriver['metrics']
    >
  ): ReturnType<TraceDriver['metrics']> {
    return this.#thread.call('metrics', { query, start, end, step, ...options }, within(signal));
  }

  push(
    ...[format, body, { signal, given = false, ...options }]: Parameters<TraceDriver['push']>
  ): Promise<PushAnswer> {
    return this.#thread.call(
      'push',
      { format, body, ...options },
      { ...within(signal), transfer: given ? memoryOf(body) : [] },
    );
  }

  async status(): Promise<DriverStatus> {
    const began = this.#clock.monotonic();
    const state = { driver: 'embedded' } as const;
    try {
      const { trouble, damage } = await this.#thread.call<StoreStatus>('status', undefined, {
        timeoutMs: statusMs,
      });
      const detail = [...(trouble === undefined ? [] : [trouble]), ...damage]
        .slice(0, 3)
        .join('; ');
      return {
        ...state,
        ok: true,
        delayMs: this.#clock.monotonic() - began,
        ...(detail !== '' && { degraded: true, detail }),
      };
    } catch (error) {
      return {
        ...state,
        ok: false,
        detail: messageOf(error),
        delayMs: this.#clock.monotonic() - began,
        ...(isSvcError(error) && { code: error.code }),
      };
    }
  }
}

const within = (signal: AbortSignal | undefined): ThreadCall => ({
  timeoutMs: patienceMs,
  ...(signal && { signal }),
});
