import type { Enforced, PushAnswer, QueryOptions } from 'svc/contracts/metricsdb';
import type { FoundTrace, TraceSearchOptions, TraceWindow } from 'svc/contracts/traces';
import { type RemoteClient } from 'svc/query';
import { type Clock, isSvcError, messageOf, type ThreadHandle } from 'svc/sdk';

import type { Relayed } from '../store/passing.ts';
import type { TempoQuestion } from '../tempo/question.ts';
import type { EnforcedInput, JudgedInput, RemoteAnswer, TraceForm } from '../thread/contract.ts';
import type { DriverStatus, TraceDriver } from './driver.ts';
import { errors } from './errors.ts';
import { type AnswerOf, assertJson, readAnswer, refusedIn, versionIn } from './remote-answers.ts';
import { remoteRequest } from './remote-request.ts';

export interface RemoteTracesParts {
  readonly client: RemoteClient;
  /** Returns the address at which the server accepts spans. */
  readonly pushAddress: () => string;
  /** Longest time of one query. */
  readonly timeoutMs: () => number;
  /** Reads queries, traces and pushes, as it does for the store of this process. */
  readonly thread: ThreadHandle;
  readonly clock: Clock;
}

interface Patience {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const pushMs = 30_000;
const probeMs = 5_000;
/** Larger answers are read in the thread. */
const longestHere = 64 * 1024;
/** Traces that are fetched at a time to be judged. */
const atOnce = 4;

/**
 * Driver for an external Tempo: each request is built anew from what was parsed of the caller's,
 * never passed on.
 */
export class RemoteTraces implements TraceDriver {
  readonly #client: RemoteClient;
  readonly #pushAddress: () => string;
  readonly #timeoutMs: () => number;
  readonly #thread: ThreadHandle;
  readonly #clock: Clock;

  constructor({ client, pushAddress, timeoutMs, thread, clock }: RemoteTracesParts) {
    this.#client = client;
    this.#pushAddress = pushAddress;
    this.#timeoutMs = timeoutMs;
    this.#thread = thread;
    this.#clock = clock;
  }

  answer(
    question: TempoQuestion,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<Uint8Array> {
    return this.#ask(question, { signal });
  }

  async trace(
    traceId: string,
    form: TraceForm,
    { signal, timeoutMs, enforce }: QueryOptions = {},
  ): Promise<Uint8Array | undefined> {
    const body = await this.#fetchTrace(traceId, { signal, timeoutMs });
    // An invalid id is refused there, with the usual error; a missing trace has no spans.
    return await this.#thread.call('render', {
      traceId,
      form,
      body: body ?? new Uint8Array(),
      ...(enforce && { enforce }),
    });
  }

  async search(
    query: string,
    window: TraceWindow,
    options: TraceSearchOptions = {},
  ): ReturnType<TraceDriver['search']> {
    const { enforce = [], limit, spansPerSpanSet } = options;
    const narrowed = await this.#enforced(query.trim() === '' ? '{ }' : query, enforce, 'traces');
    const input = {
      ...window,
      query: narrowed,
      ...(limit !== undefined && { limit }),
      ...(spansPerSpanSet !== undefined && { spansPerSpanSet }),
    };
    const body = await this.#ask({ kind: 'search', input }, options);
    const found = await this.#read('search', body);
    return enforce.length === 0
      ? { ...found, partial: found.warnings.length > 0 }
      : await this.#judged(query, window, options, found.traces);
  }

  async tagValues(
    ...[tag, window, { query = '', enforce = [] } = {}]: Parameters<TraceDriver['tagValues']>
  ): ReturnType<TraceDriver['tagValues']> {
    const asked = query.trim() === '' && enforce.length > 0 ? '{ }' : query;
    const narrowed = await this.#enforced(asked, enforce, { tag });
    return await this.#read(
      'values',
      await this.#ask({
        kind: 'values',
        input: { ...window, tag, version: 2, ...(narrowed !== '' && { query: narrowed }) },
      }),
    );
  }

  async tagNames(
    ...[window, { query = '', enforce = [] } = {}]: Parameters<TraceDriver['tagNames']>
  ): ReturnType<TraceDriver['tagNames']> {
    const asked = query.trim() === '' && enforce.length > 0 ? '{ }' : query;
    const narrowed = await this.#enforced(asked, enforce, 'names');
    return await this.#read(
      'names',
      await this.#ask({
        kind: 'tags',
        input: { ...window, version: 2, ...(narrowed !== '' && { query: narrowed }) },
      }),
    );
  }

  async metrics(
    ...[query, window, options = {}]: Parameters<TraceDriver['metrics']>
  ): ReturnType<TraceDriver['metrics']> {
    const narrowed = await this.#enforced(query, options.enforce ?? [], 'metrics');
    return await this.#read(
      'range',
      await this.#ask({ kind: 'range', input: { ...window, query: narrowed } }, options),
    );
  }

  async push(
    ...[format, body, { encoding, stamp, signal }]: Parameters<TraceDriver['push']>
  ): Promise<PushAnswer> {
    const call = { timeoutMs: pushMs, ...(signal && { signal }) };
    const relayed = await this.#thread.call<Relayed>(
      'relay',
      { format, body, encoding, stamp },
      call,
    );
    let sent = false;
    try {
      const answer = await this.#relay(relayed, signal);
      sent = relayed.body !== undefined;
      return answer;
    } finally {
      // A thread that has ended meanwhile has lost it anyway.
      await this.#thread.call('relayed', { ticket: relayed.ticket, sent }).catch(() => undefined);
    }
  }

  async status(): Promise<DriverStatus> {
    const began = this.#clock.monotonic();
    const state = { driver: 'remote' } as const;
    try {
      const echo = await this.#client.call({ path: '/api/echo', timeoutMs: probeMs });
      const delayMs = this.#clock.monotonic() - began;
      if (Buffer.from(echo.subarray(0, 32)).toString('latin1').trim() !== 'echo') {
        throw errors.no_echo();
      }
      const version = await this.#version();
      return { ...state, ok: true, delayMs, ...(version !== undefined && { version }) };
    } catch (error) {
      return {
        ...state,
        ok: false,
        detail: messageOf(error),
        delayMs: this.#clock.monotonic() - began,
        code: isSvcError(error) ? error.code : 'internal',
      };
    }
  }

  async #ask(question: TempoQuestion, { timeoutMs, signal }: Patience = {}): Promise<Uint8Array> {
    const body = await this.#client.call({
      ...remoteRequest(question),
      accept: 'application/json',
      timeoutMs: this.#patience(timeoutMs),
      signal,
    });
    assertJson(body);
    return body;
  }

  async #fetchTrace(
    traceId: string,
    { timeoutMs, signal }: Patience,
  ): Promise<Uint8Array | undefined> {
    if (!/^[0-9a-fA-F]{1,32}$/.test(traceId)) {
      return undefined;
    }
    return await this.#client.find({
      path: `/api/traces/${traceId}`,
      accept: 'application/protobuf',
      timeoutMs: this.#patience(timeoutMs),
      signal,
    });
  }

  /** Adds the caller's restrictions to the query before it leaves. */
  #enforced(
    query: string,
    enforce: readonly Enforced[],
    asks: EnforcedInput['asks'],
  ): Promise<string> {
    const isPlain = enforce.length === 0 && asks !== 'traces';
    return isPlain
      ? Promise.resolve(query)
      : this.#thread.call('enforced', { query, enforce, asks } satisfies EnforcedInput);
  }

  /**
   * Filters the other server's answer: it finds traces with a visible span; which spans are
   * visible, and whether they match, is decided here.
   */
  async #judged(
    query: string,
    window: TraceWindow,
    options: TraceSearchOptions,
    traces: readonly FoundTrace[],
  ): ReturnType<TraceDriver['search']> {
    const { signal, timeoutMs, ...rest } = options;
    const ids = traces.map(({ traceId }) => traceId);
    const deadline = this.#clock.monotonic() + this.#patience(timeoutMs);
    const bodies: Uint8Array[] = [];
    for (let at = 0; at < ids.length; at += atOnce) {
      const left = deadline - this.#clock.monotonic();
      if (left <= 0) {
        throw errors.remote_too_slow();
      }
      const found = await Promise.all(
        ids.slice(at, at + atOnce).map((id) => this.#fetchTrace(id, { timeoutMs: left, signal })),
      );
      bodies.push(...found.filter((one) => one !== undefined));
    }
    const input: JudgedInput = { query, ...window, ...rest, bodies };
    return await this.#thread.call('judge', input, {
      timeoutMs: this.#patience(timeoutMs),
      ...(signal && { signal }),
    });
  }

  /** Reads an answer, a large one in the thread. */
  async #read<K extends RemoteAnswer['kind']>(kind: K, body: Uint8Array): Promise<AnswerOf<K>> {
    return body.length <= longestHere
      ? readAnswer(kind, body)
      : await this.#thread.call<AnswerOf<K>>('readAnswer', { kind, body });
  }

  async #relay(
    { body, accepted, rejected, reasons }: Relayed,
    signal: AbortSignal | undefined,
  ): Promise<PushAnswer> {
    if (body === undefined) {
      return { accepted, rejected, reasons };
    }
    const push = {
      base: this.#pushAddress(),
      path: '/v1/traces',
      body: { type: 'application/x-protobuf', bytes: body },
    };
    const refused = refusedIn(await this.#client.call({ ...push, timeoutMs: pushMs, signal }));
    const more = Math.min(accepted, refused.rejected);
    return {
      accepted: accepted - more,
      rejected: rejected + more,
      reasons: refused.reason === '' ? reasons : [...reasons, refused.reason],
    };
  }

  /** Older ones have no page for it, and those in front of several may not pass it on: that is no fault. */
  async #version(): Promise<string | undefined> {
    try {
      return versionIn(
        await this.#client.call({ path: '/api/status/buildinfo', timeoutMs: probeMs }),
      );
    } catch {
      return undefined;
    }
  }

  #patience(timeoutMs: number | undefined): number {
    return Math.ceil(Math.min(timeoutMs ?? this.#timeoutMs(), this.#timeoutMs()));
  }
}
