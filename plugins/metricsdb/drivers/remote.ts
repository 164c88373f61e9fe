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
  isSvcError,
  type Logger,
  type MaybePromise,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
  type ThreadHandle,
} from 'svc/sdk';

import type { ServiceAnswer } from '../service/answers.ts';
import type { Asked, Forwarded, Packed, PackInput, ServiceQuestion } from '../thread/contract.ts';
import type { Driver, DriverState, PageRequest, StatusPage } from './driver.ts';
import { patienceMs } from './embedded.ts';
import { errors } from './errors.ts';
import { type RemoteAddress, RemoteClient, type RemoteReply } from './remote-client.ts';
import type { MetricsSettings } from './settings.ts';
import { ownPage } from './status-pages.ts';
import { remedyOf, remoteWrite } from './write-test.ts';

export interface RemoteParts {
  readonly thread: ThreadHandle;
  readonly clock: Clock;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly build: Build;
  readonly log: Logger;
  /** Settings of this plugin that are in force. */
  readonly own: MetricsSettings;
}

interface Window {
  readonly start: number;
  readonly end: number;
}

/** Time that the call may take beyond the query. */
const graceMs = 2_000;
const probeMs = 5_000;
const writeMs = 30_000;
/** Window in which series that are to be ended are looked up. */
const aliveMs = 15 * 60_000;
/** Max parallel queries of one batch: the Prometheus API has no batches. */
const batchWidth = 4;
/** Refusals of the samples themselves, which sending them again would not change; all others are about the server. */
const faultOfSamples =
  /out of order|out of bounds|too old|too far in the (?:past|future)|duplicate sample|duplicate label|label (?:name|value)|invalid (?:label|metric|utf)|too many labels|exemplar|histogram|err-mimir-/i;
/** Time after which a sender tries again what the server does not take. */
const refusedSeconds = 30;

/**
 * Driver for a server with the Prometheus API; the forwarded request is built anew from what the
 * plugin's thread parsed.
 */
export class RemoteDriver implements Driver {
  readonly name: RemoteAddress['name'];
  readonly #client: RemoteClient;
  readonly #thread: ThreadHandle;
  readonly #own: MetricsSettings;
  readonly #build: Build;
  readonly #url: string;
  readonly #startedAt: number;
  readonly #log: Logger;
  /** Why the server takes no samples; undefined: it took the last ones. */
  #refusal: string | undefined;

  constructor({ thread, clock, fetch, build, own, log }: RemoteParts, address: RemoteAddress) {
    this.name = address.name;
    this.#client = new RemoteClient(fetch, address);
    this.#thread = thread;
    this.#own = own;
    this.#build = build;
    this.#log = log;
    this.#url = address.settings.url;
    this.#startedAt = clock.now();
  }

  async ask(asked: Asked, signal: AbortSignal): Promise<Uint8Array> {
    if (asked.endpoint === 'format_query') {
      return Buffer.from(
        JSON.stringify({
          status: 'success',
          data: await this.#thread.call<string>('format', asked),
        }),
      );
    }
    const body = await this.#forward(await this.#thread.call<Forwarded>('plan', asked), signal);
    return asked.shape === 'tool'
      ? await this.#thread.call<Uint8Array>('reshape', body, { timeoutMs: patienceMs, signal })
      : body;
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
    options?: QueryOptions,
  ): Promise<readonly (InstantAnswer | Error)[]> {
    const answers: (InstantAnswer | Error)[] = [];
    let next = 0;
    const asker = async (): Promise<void> => {
      while (next < queries.length) {
        const at = next++;
        answers[at] = await this.instant(queries[at]!, time, options).catch(asError);
      }
    };
    await Promise.all(Array.from({ length: Math.min(batchWidth, queries.length) }, asker));
    return answers;
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

  push(
    ...[format, body, { encoding, stamp, signal }]: Parameters<Driver['push']>
  ): Promise<PushAnswer> {
    return this.#write({ format, body, encoding, stamp }, signal);
  }

  write(rows: readonly SampleRow[]): Promise<PushAnswer> {
    return this.#write({ rows });
  }

  async end(matchers: readonly Enforced[], time: number): Promise<number> {
    const alive = await this.series(
      [],
      { start: time - aliveMs, end: time },
      { enforce: matchers },
    );
    const { accepted } = await this.write(
      alive.map((labels) => ({ labels, time, value: 0, stale: true })),
    );
    return accepted;
  }

  async page(page: StatusPage, { limit, signal }: PageRequest): Promise<Uint8Array | string> {
    if (page === 'tsdb') {
      return await this.#forward(
        { path: 'status/tsdb', pairs: [['limit', String(limit)]], timeoutMs: probeMs },
        signal,
      );
    }
    // Clients choose their queries by the version of the answering server.
    const version = page === 'buildinfo' ? await this.#version(signal) : undefined;
    return version === undefined
      ? ownPage(page, { settings: this.#own, build: this.#build, startedAt: this.#startedAt })
      : JSON.stringify({
          status: 'success',
          data: { version, revision: this.#build.version, branch: 'svc' },
        });
  }

  health(): MaybePromise<HealthReport> {
    if (this.#refusal !== undefined) {
      return { ok: false, detail: `${this.name}: ${this.#refusal}` };
    }
    const trouble = this.#client.lastTrouble;
    return { ok: true, detail: trouble === undefined ? this.name : `${this.name}: ${trouble}` };
  }

  async probe(signal?: AbortSignal): ReturnType<Driver['probe']> {
    try {
      await this.#forward({ path: 'query', pairs: [['query', '1']], timeoutMs: probeMs }, signal);
      const version = await this.#version(signal);
      return { ok: true, detail: 'it answers', ...(version !== undefined && { version }) };
    } catch (error) {
      return { ok: false, detail: messageOf(error) };
    }
  }

  state(): DriverState {
    return {
      status: this.#url === '' ? 'failed' : 'running',
      url: this.#url,
      pid: null,
      startedAt: this.#startedAt,
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #forward(
    { path, pairs, timeoutMs }: Forwarded,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    const { maxAnswerBytes } = this.#own.thread(this.name).query;
    return this.#client.ask({
      path,
      pairs,
      timeoutMs: timeoutMs + graceMs,
      maxBytes: maxAnswerBytes,
      signal,
    });
  }

  async #service<R extends ServiceAnswer>(
    question: ServiceQuestion,
    signal: AbortSignal | undefined,
  ): Promise<R> {
    const body = await this.#forward(
      await this.#thread.call<Forwarded>('planService', question),
      signal,
    );
    return await this.#thread.call<R>(
      'decode',
      { body, kind: question.kind === 'series' ? 'series' : 'query' },
      { timeoutMs: patienceMs },
    );
  }

  async #write(input: PackInput, signal?: AbortSignal): Promise<PushAnswer> {
    const { bodies, samples, rejected, reasons } = await this.#thread.call<Packed>('pack', input, {
      timeoutMs: patienceMs,
    });
    const causes = [...reasons];
    let refused = 0;
    for (const [at, body] of bodies.entries()) {
      const reply = await this.#client.send('/api/v1/write', {
        method: 'POST',
        headers: remoteWrite,
        body,
        timeoutMs: writeMs,
        ...(signal && { signal }),
      });
      if (reply.status >= 400 && reply.status < 500 && reply.status !== 429) {
        const reason = Buffer.from(reply.body).toString('utf8').trim().slice(0, 300);
        if (reply.status !== 413 && !faultOfSamples.test(reason)) {
          throw this.#refused(reply, reason);
        }
        causes.push(`${reply.origin} refused samples: ${reason || `status ${reply.status}`}`);
        refused += samples[at]!;
      } else if (reply.status >= 300) {
        throw errors.samples_refused(
          { origin: reply.origin, status: reply.status },
          { retryAfterSeconds: retryAfter(reply) },
        );
      } else {
        this.#refusal = undefined;
      }
    }
    return {
      accepted: samples.reduce((sum, count) => sum + count, 0) - refused,
      rejected: rejected + refused,
      reasons: causes,
    };
  }

  /** Notes for the operator that the server takes nothing: senders are not to blame, and try again. */
  #refused({ origin, status }: RemoteReply, reason: string): Error {
    const remedy = remedyOf(status, reason);
    const refusal = `${origin} is not accepting samples (status ${status}${reason === '' ? '' : `: ${reason}`}): ${remedy}`;
    if (this.#refusal === undefined) {
      this.#log.warn(
        { event: 'metricsdb.samples_not_taken', origin, status, cause: reason, remedy },
        'the metrics store is rejecting all samples; senders keep them and will retry',
      );
    }
    this.#refusal = refusal;
    return errors.push_refused({ origin, status, remedy }, { retryAfterSeconds: refusedSeconds });
  }

  /** Returns the version that the server reports, if any. */
  async #version(signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const page = await this.#forward(
        { path: 'status/buildinfo', pairs: [], timeoutMs: probeMs },
        signal,
      );
      const { data } = JSON.parse(Buffer.from(page).toString('utf8')) as {
        data?: { version?: unknown };
      };
      return typeof data?.version === 'string' && data.version !== ''
        ? data.version.slice(0, 80)
        : undefined;
    } catch (error) {
      if (isSvcError(error) || error instanceof SyntaxError) {
        return undefined;
      }
      throw error;
    }
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : errors.remote_failed({ cause: messageOf(error) });

const retryAfter = ({ headers }: OutboundReply): number =>
  Math.min(300, Math.max(1, Number(headers['retry-after']) || 5));
