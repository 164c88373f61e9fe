import type {
  LinesAnswer,
  LogQueryOptions,
  LogWindow,
  PatternOptions,
  PatternsAnswer,
} from 'svc/contracts/logs';
import type {
  InstantAnswer,
  MatrixAnswer,
  Notes,
  PushAnswer,
  QueryOptions,
} from 'svc/contracts/metricsdb';
import { type Clock, messageOf, type ThreadHandle } from 'svc/sdk';
import { memoryOf } from 'svc/store';

import type { LogStoreStatus } from '../store/store.ts';
import type { AskInput, EndpointInput, NamesInput, PushInput } from '../thread/contract.ts';
import type { DriverStatus, LogDriver } from './driver.ts';

/**
 * Time limit slightly beyond that of any query in the thread, whose own deadline states the reason.
 */
const patienceMs = 5 * 60_000 + 10_000;
/** A thread that is busy is not dead; who asks decides how long that is. */
const statusMs = 60_000;

type NameOptions = Parameters<LogDriver['labels']>[1];

/** Asks the thread of this plugin. */
export class EmbeddedLogs implements LogDriver {
  readonly #thread: ThreadHandle;
  readonly #clock: Clock;

  constructor(thread: ThreadHandle, clock: Clock) {
    this.#thread = thread;
    this.#clock = clock;
  }

  endpoint(input: EndpointInput, signal: AbortSignal): Promise<Uint8Array> {
    return this.#ask('endpoint', input, signal);
  }

  lines(
    query: string,
    { start, end }: LogWindow,
    { signal, ...options }: LogQueryOptions = {},
  ): Promise<LinesAnswer> {
    return this.#ask('lines', { query, start, end, ...options }, signal);
  }

  instant(
    query: string,
    time: number,
    { signal, ...options }: QueryOptions = {},
  ): Promise<InstantAnswer> {
    return this.#ask('instant', { query, start: time, end: time, ...options }, signal);
  }

  range(
    query: string,
    { start, end, step }: LogWindow & { readonly step: number },
    { signal, ...options }: QueryOptions = {},
  ): Promise<MatrixAnswer & Notes> {
    return this.#ask('range', { query, start, end, ...options, step }, signal);
  }

  patterns(
    query: string,
    { start, end }: LogWindow,
    { signal, ...options }: PatternOptions = {},
  ): Promise<PatternsAnswer> {
    return this.#ask('patterns', { query, start, end, ...options }, signal);
  }

  labels({ start, end }: LogWindow, options: NameOptions = {}): Promise<string[]> {
    return this.#ask('names', { start, end, ...options });
  }

  labelValues(
    label: string,
    { start, end }: LogWindow,
    options: NameOptions = {},
  ): Promise<string[]> {
    return this.#ask('names', { label, start, end, ...options });
  }

  push(
    ...[format, body, { encoding, stamp, sender, signal, given = false }]: Parameters<
      LogDriver['push']
    >
  ): Promise<PushAnswer> {
    const input: PushInput = { format, body, encoding, stamp, sender };
    return this.#thread.call('push', input, {
      timeoutMs: patienceMs,
      transfer: given ? memoryOf(body) : [],
      ...(signal && { signal }),
    });
  }

  write(...[rows]: Parameters<LogDriver['write']>): Promise<PushAnswer> {
    return this.#thread.call('write', rows);
  }

  async status(): Promise<DriverStatus> {
    const began = this.#clock.monotonic();
    try {
      const { damage, trouble } = await this.#thread.call<LogStoreStatus>('status', undefined, {
        timeoutMs: statusMs,
      });
      const detail = [...(trouble === undefined ? [] : [trouble]), ...damage]
        .slice(0, 3)
        .join('; ');
      return {
        driver: 'embedded',
        ok: true,
        delayMs: this.#clock.monotonic() - began,
        ...(detail !== '' && { degraded: true, detail }),
      };
    } catch (error) {
      return {
        driver: 'embedded',
        ok: false,
        detail: messageOf(error),
        delayMs: this.#clock.monotonic() - began,
      };
    }
  }

  #ask<R>(
    method: string,
    input: AskInput | EndpointInput | NamesInput,
    signal?: AbortSignal,
  ): Promise<R> {
    return this.#thread.call<R>(method, input, {
      timeoutMs: patienceMs,
      ...(signal && { signal }),
    });
  }
}
