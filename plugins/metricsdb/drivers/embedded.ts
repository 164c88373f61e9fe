import type {
  Enforced,
  InstantAnswer,
  LabelRecord,
  MatrixAnswer,
  Notes,
  PushAnswer,
  QueryOptions,
  SampleRow,
} from 'svc/contracts/metricsdb';
import {
  type Build,
  type Clock,
  type HealthReport,
  messageOf,
  SvcError,
  type ThreadHandle,
} from 'svc/sdk';
import { memoryOf } from 'svc/store';

import type { BatchAnswer } from '../service/answers.ts';
import type {
  Asked,
  BatchQuestion,
  EndInput,
  PushInput,
  ServiceQuestion,
  ThreadStats,
} from '../thread/contract.ts';
import type { HeadCardinality } from '../store/figures.ts';
import type { Driver, DriverState, PageRequest, StatusPage } from './driver.ts';
import { errors } from './errors.ts';
import type { MetricsSettings } from './settings.ts';
import { ownPage, tsdbPage } from './status-pages.ts';

/**
 * Time limit slightly beyond that of any query in the thread, whose own deadline states the reason.
 */
export const patienceMs = 5 * 60_000 + 10_000;
/** A thread that is busy is not dead; who asks decides how long that is. */
const probeMs = 60_000;

export interface EmbeddedParts {
  readonly thread: ThreadHandle;
  readonly settings: MetricsSettings;
  readonly clock: Clock;
  readonly build: Build;
}

interface Window {
  readonly start: number;
  readonly end: number;
}

/** Asks the thread of this plugin. */
export class EmbeddedDriver implements Driver {
  readonly name = 'embedded';
  readonly #thread: ThreadHandle;
  readonly #settings: MetricsSettings;
  readonly #build: Build;
  readonly #startedAt: number;

  constructor({ thread, settings, clock, build }: EmbeddedParts) {
    this.#thread = thread;
    this.#settings = settings;
    this.#build = build;
    this.#startedAt = clock.now();
  }

  ask(asked: Asked, signal: AbortSignal): Promise<Uint8Array> {
    return this.#call('ask', asked, signal);
  }

  instant(
    query: string,
    time: number,
    { signal, ...options }: QueryOptions = {},
  ): Promise<InstantAnswer> {
    return this.#service({ kind: 'instant', query, time, options }, signal);
  }

  async instants(
    queries: readonly string[],
    time: number,
    { signal, ...options }: QueryOptions = {},
  ): Promise<readonly (InstantAnswer | Error)[]> {
    const answers = await this.#call<readonly BatchAnswer[]>(
      'instants',
      { queries, time, options } satisfies BatchQuestion,
      signal,
    );
    return answers.map((answer) =>
      'failed' in answer
        ? new SvcError(answer.failed, answer.message, { reason: answer.reason })
        : answer,
    );
  }

  range(
    query: string,
    { start, end, step }: Window & { readonly step: number },
    { signal, ...options }: QueryOptions = {},
  ): Promise<MatrixAnswer & Notes> {
    return this.#service({ kind: 'range', query, start, end, step, options }, signal);
  }

  series(
    matchers: readonly string[],
    { start, end }: Window,
    { signal, ...options }: QueryOptions = {},
  ): Promise<readonly LabelRecord[]> {
    return this.#service({ kind: 'series', matchers, start, end, options }, signal);
  }

  /**
   * Pushes samples, ignoring the sender's abort signal: the store takes a push as a whole, and
   * faster than it could be undone.
   */
  push(
    ...[format, body, { encoding, stamp, sender, given = false }]: Parameters<Driver['push']>
  ): Promise<PushAnswer> {
    return this.#call(
      'push',
      { format, body, encoding, stamp, sender } satisfies PushInput,
      undefined,
      given ? memoryOf(body) : [],
    );
  }

  write(rows: readonly SampleRow[]): Promise<PushAnswer> {
    return this.#call('write', rows);
  }

  end(matchers: readonly Enforced[], time: number): Promise<number> {
    return this.#call('end', { matchers, time } satisfies EndInput);
  }

  async page(page: StatusPage, asked: PageRequest): Promise<string> {
    if (page !== 'tsdb') {
      return ownPage(page, {
        settings: this.#settings,
        build: this.#build,
        startedAt: this.#startedAt,
      });
    }
    const { store } = await this.#stats();
    if (store === undefined) {
      throw errors.store_closed();
    }
    return tsdbPage(
      await this.#call<HeadCardinality>('cardinality', asked.limit, asked.signal),
      store,
      asked,
    );
  }

  async health(): Promise<HealthReport> {
    const damage = damageOf(await this.#stats());
    return {
      ok: true,
      ...(damage !== undefined && { degraded: true }),
      detail: damage ?? 'embedded',
    };
  }

  async probe(): ReturnType<Driver['probe']> {
    try {
      const stats = await this.#stats();
      return {
        ok: stats.store !== undefined,
        detail: damageOf(stats) ?? `the embedded store holds ${stats.store!.series} series`,
        version: this.#build.version,
      };
    } catch (error) {
      return { ok: false, detail: messageOf(error) };
    }
  }

  state(): DriverState {
    const status = this.#thread.state === 'running' ? 'running' : 'starting';
    return {
      status,
      url: `${this.#build.publicUrl}/prometheus`,
      pid: process.pid,
      startedAt: this.#startedAt,
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #service<R>(question: ServiceQuestion, signal?: AbortSignal): Promise<R> {
    return this.#call('service', question, signal);
  }

  #stats(): Promise<ThreadStats> {
    return this.#thread.call('stats', undefined, { timeoutMs: probeMs });
  }

  #call<R>(
    method: string,
    input: unknown,
    signal?: AbortSignal,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<R> {
    return this.#thread.call<R>(method, input, {
      timeoutMs: patienceMs,
      transfer,
      ...(signal && { signal }),
    });
  }
}

/** Describes the damage of the store; a damaged part costs its samples only. */
function damageOf({ store }: ThreadStats): string | undefined {
  return store === undefined
    ? 'no store is open'
    : store.damage.length === 0
      ? undefined
      : store.damage.slice(0, 3).join('; ');
}
