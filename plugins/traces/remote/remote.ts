import { type Clock, isSvcError, messageOf, type PluginContext, SvcError, type ThreadHandle } from 'svc/sdk';

import type { Enforced } from '../../metricsdb/contract.ts';
import type { TraceSearchOptions, TraceWindow } from '../contract.ts';
import type { DriverStatus, TraceDriver } from '../driver.ts';
import type { RemoteSettings } from '../settings.ts';
import type { Relayed } from '../store/passing.ts';
import type { TempoQuestion } from '../tempo/question.ts';
import type { EnforcedInput, JudgedInput } from '../thread-contract.ts';
import { assertJson, matrixIn, refusedIn, tracesIn, valuesIn, versionIn } from './answers.ts';
import { remoteRequest } from './request.ts';
import { TempoClient } from './tempo-client.ts';

export interface RemoteParts {
  readonly fetch: PluginContext['fetch'];
  readonly settings: () => RemoteSettings;
  /** Longest time of one question. */
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
/** Traces that are fetched at a time to be judged. */
const atOnce = 4;
const protobuf = 'application/protobuf';

/** Asks a Tempo elsewhere: each request is built anew from what was read of the caller's, never passed on. */
export function remoteDriver({ fetch, settings, timeoutMs, thread, clock }: RemoteParts): TraceDriver {
  const client = new TempoClient(fetch, settings);
  const patienceOf = (asked: number | undefined): number => Math.ceil(Math.min(asked ?? timeoutMs(), timeoutMs()));

  async function ask(question: TempoQuestion, { timeoutMs: asked, signal }: Patience = {}): Promise<Uint8Array> {
    const body = await client.call({ ...remoteRequest(question), accept: 'application/json', timeoutMs: patienceOf(asked), signal });
    assertJson(body);
    return body;
  }

  async function fetchTrace(traceId: string, { timeoutMs: asked, signal }: Patience): Promise<Uint8Array | undefined> {
    if (!/^[0-9a-fA-F]{1,32}$/.test(traceId)) {
      return undefined;
    }
    return await client.find({ path: `/api/traces/${traceId}`, accept: protobuf, timeoutMs: patienceOf(asked), signal });
  }

  /** What the asker may see goes into the query before it leaves. */
  const enforced = (query: string, enforce: readonly Enforced[], asks: EnforcedInput['asks']): Promise<string> =>
    enforce.length === 0 && asks !== 'traces' ? Promise.resolve(query) : thread.call('enforced', { query, enforce, asks } satisfies EnforcedInput);

  /** The other server finds traces with a span in sight; what is to be seen of them, and whether they match, is decided here. */
  async function judged(query: string, window: TraceWindow, options: TraceSearchOptions, body: Uint8Array): ReturnType<TraceDriver['search']> {
    const { signal, timeoutMs: asked, ...rest } = options;
    const ids = tracesIn(body).map(({ traceId }) => traceId);
    const deadline = clock.monotonic() + patienceOf(asked);
    const bodies: Uint8Array[] = [];
    for (let at = 0; at < ids.length; at += atOnce) {
      const left = deadline - clock.monotonic();
      if (left <= 0) {
        throw new SvcError('unavailable', 'the remote trace store did not tell all traces in time: ask for fewer');
      }
      const found = await Promise.all(ids.slice(at, at + atOnce).map((id) => fetchTrace(id, { timeoutMs: left, signal })));
      bodies.push(...found.filter((one) => one !== undefined));
    }
    const input: JudgedInput = { query, ...window, ...rest, bodies };
    return await thread.call('judge', input, { timeoutMs: patienceOf(asked), ...(signal && { signal }) });
  }

  return {
    answer: (question, signal) => ask(question, { signal }),

    async trace(traceId, form, { signal, timeoutMs: asked, enforce } = {}) {
      const body = await fetchTrace(traceId, { signal, timeoutMs: asked });
      // An id that is none is refused there, in the usual words; a trace that is none has no spans.
      return await thread.call('render', { traceId, form, body: body ?? new Uint8Array(), ...(enforce && { enforce }) });
    },

    async search(query, window, options = {}) {
      const { enforce = [], limit, spansPerSpanSet } = options;
      const narrowed = await enforced(query.trim() === '' ? '{ }' : query, enforce, 'traces');
      const input = { ...window, query: narrowed, ...(limit !== undefined && { limit }), ...(spansPerSpanSet !== undefined && { spansPerSpanSet }) };
      const body = await ask({ kind: 'search', input }, options);
      return enforce.length === 0 ? { traces: tracesIn(body), partial: false } : await judged(query, window, options, body);
    },

    async tagValues(tag, window, { query = '', enforce = [] } = {}) {
      const asked = query.trim() === '' && enforce.length > 0 ? '{ }' : query;
      const narrowed = await enforced(asked, enforce, { tag });
      return valuesIn(await ask({ kind: 'values', input: { ...window, tag, version: 2, ...(narrowed !== '' && { query: narrowed }) } }));
    },

    async metrics(query, window, options = {}) {
      return matrixIn(await ask({ kind: 'range', input: { ...window, query: await enforced(query, options.enforce ?? [], 'metrics') } }, options));
    },

    async push(format, body, { encoding, stamp, signal }) {
      const within = { timeoutMs: pushMs, ...(signal && { signal }) };
      const { ticket, body: passed, accepted, rejected, reasons } = await thread.call<Relayed>('relay', { format, body, encoding, stamp }, within);
      let sent = false;
      try {
        if (passed === undefined) {
          return { accepted, rejected, reasons };
        }
        const refused = refusedIn(await client.call({ path: '/v1/traces', body: passed, timeoutMs: pushMs, signal }));
        sent = true;
        const more = Math.min(accepted, refused.rejected);
        return { accepted: accepted - more, rejected: rejected + more, reasons: refused.reason === '' ? reasons : [...reasons, refused.reason] };
      } finally {
        // A thread that has ended meanwhile has forgotten it by itself.
        await thread.call('relayed', { ticket, sent }).catch(() => undefined);
      }
    },

    async status(): Promise<DriverStatus> {
      const began = clock.monotonic();
      const state = { driver: 'remote' } as const;
      try {
        const said = await client.call({ path: '/api/echo', timeoutMs: probeMs });
        const delayMs = clock.monotonic() - began;
        if (Buffer.from(said.subarray(0, 32)).toString('latin1').trim() !== 'echo') {
          throw new SvcError('upstream_error', 'the remote trace store does not answer as Tempo does: it has no echo; is traces.remote_url right?');
        }
        const version = await versionOf(client);
        return { ...state, ok: true, delayMs, ...(version !== undefined && { version }) };
      } catch (error) {
        return { ...state, ok: false, detail: messageOf(error), delayMs: clock.monotonic() - began, code: isSvcError(error) ? error.code : 'internal' };
      }
    },
  };
}

/** Older ones have no page for it, and those in front of several may not pass it on: that is no fault. */
async function versionOf(client: TempoClient): Promise<string | undefined> {
  try {
    return versionIn(await client.call({ path: '/api/status/buildinfo', timeoutMs: probeMs }));
  } catch {
    return undefined;
  }
}
