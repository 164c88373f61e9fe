import {
  type Build,
  type Clock,
  isSvcError,
  type MaybePromise,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
  SvcError,
  type ThreadHandle,
} from 'svc/sdk';

import type { ServiceAnswer } from '../answers.ts';
import type { InstantAnswer, LabelRecord, PushAnswer } from '../contract.ts';
import type { MetricsSettings, RemoteSettings } from '../settings.ts';
import type { Forwarded, Packed, PackInput, Pairs, ServiceQuestion } from '../thread-contract.ts';
import type { Driver, DriverState } from './driver.ts';
import { patienceMs } from './embedded.ts';
import { ownPage } from './status-pages.ts';
import { refusalOf } from './upstream-error.ts';

export interface RemoteParts {
  readonly thread: ThreadHandle;
  readonly clock: Clock;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly build: Build;
  /** What is in force in this plugin. */
  readonly own: MetricsSettings;
}

export interface RemoteAddress {
  readonly name: 'remote' | 'process';
  readonly settings: RemoteSettings;
  readonly reach: 'configured' | 'loopback';
  /** What stands before /api/v1; throws while there is none. */
  readonly base: (signal: AbortSignal | undefined) => MaybePromise<string>;
}

/** A server that somebody has configured. */
export const configured = (settings: RemoteSettings): RemoteAddress => ({
  name: 'remote',
  settings,
  reach: 'configured',
  base() {
    if (settings.url === '') {
      throw new SvcError('conflict', 'metricsdb.url is not set: the remote metrics store has no address');
    }
    return settings.url;
  },
});

/** How much longer than the query the call may take. */
const graceMs = 2_000;
const probeMs = 5_000;
const writeMs = 30_000;
/** How far back a series is looked for that is to be ended. */
const aliveMs = 15 * 60_000;
const success = /^\s*\{\s*"status"\s*:\s*"success"/;

/** Asks a server of the Prometheus API, in our words and with our credentials; nothing of the caller's is passed on. */
export function remoteDriver({ thread, clock, fetch, build, own }: RemoteParts, { name, settings, reach, base }: RemoteAddress): Driver {
  const startedAt = clock.now();
  const headers = headersOf(settings);
  const tls = tlsOf(settings);

  let lastTrouble: string | undefined;

  async function exchange(path: string, request: OutboundRequest): Promise<OutboundReply & { readonly origin: string }> {
    try {
      const reply = await called(path, request);
      lastTrouble = undefined;
      return reply;
    } catch (error) {
      lastTrouble = messageOf(error);
      throw error;
    }
  }

  /** Tells who answered, too. */
  async function called(path: string, request: OutboundRequest): Promise<OutboundReply & { readonly origin: string }> {
    const origin = await base(request.signal);
    return { origin, ...(await fetch(`${origin}${path}`, { ...request, headers: { ...headers, ...request.headers }, reach, ...(tls && { tls }) })) };
  }

  async function question({ path, pairs, timeoutMs }: Forwarded, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { target, request } = asRequest(path, pairs);
    const reply = await exchange(`/api/v1/${target}`, {
      ...request,
      timeoutMs: timeoutMs + graceMs,
      maxBytes: own.thread(name).query.maxAnswerBytes,
      ...(signal && { signal }),
    });
    if (reply.status !== 200) {
      throw refusalOf(reply, reply.origin);
    }
    if (!success.test(Buffer.from(reply.body.subarray(0, 64)).toString('latin1'))) {
      throw new SvcError('upstream_error', `${reply.origin} answered, but not as the Prometheus API does: is it the address before /api/v1?`);
    }
    return reply.body;
  }

  async function service<R extends ServiceAnswer>(asked: ServiceQuestion, signal: AbortSignal | undefined): Promise<R> {
    const body = await question(await thread.call<Forwarded>('planService', asked), signal);
    return await thread.call<R>('decode', { body, kind: asked.kind === 'series' ? 'series' : 'query' }, { timeoutMs: patienceMs });
  }

  async function send(input: PackInput, signal?: AbortSignal): Promise<PushAnswer> {
    const { bodies, samples, rejected, reasons } = await thread.call<Packed>('pack', input, { timeoutMs: patienceMs });
    const told = [...reasons];
    let refused = 0;
    for (const [at, body] of bodies.entries()) {
      const reply = await exchange('/api/v1/write', {
        method: 'POST',
        headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy', 'x-prometheus-remote-write-version': '0.1.0' },
        body,
        timeoutMs: writeMs,
        ...(signal && { signal }),
      });
      if (reply.status >= 400 && reply.status < 500 && reply.status !== 429) {
        const reason = Buffer.from(reply.body).toString('utf8').trim().slice(0, 300);
        told.push(`${reply.origin} refused samples: ${reason || `status ${reply.status}`}`);
        refused += samples[at]!;
      } else if (reply.status >= 300) {
        throw new SvcError('unavailable', `${reply.origin} took no samples: it answered ${reply.status}`, { retryAfterSeconds: retryAfter(reply) });
      }
    }
    return { accepted: samples.reduce((sum, count) => sum + count, 0) - refused, rejected: rejected + refused, reasons: told };
  }

  return {
    name,
    async ask(asked, signal) {
      if (asked.endpoint === 'format_query') {
        return Buffer.from(JSON.stringify({ status: 'success', data: await thread.call<string>('format', asked) }));
      }
      const body = await question(await thread.call<Forwarded>('plan', asked), signal);
      return asked.shape === 'tool' ? await thread.call<Uint8Array>('reshape', body, { timeoutMs: patienceMs, signal }) : body;
    },
    instants: (queries, time, { signal, ...options } = {}) => fewAtOnce(queries, (query) => service({ kind: 'instant', query, time, options }, signal)),
    instant: (query, time, { signal, ...options } = {}) => service({ kind: 'instant', query, time, options }, signal),
    range: (query, { start, end, step }, { signal, ...options } = {}) => service({ kind: 'range', query, start, end, step, options }, signal),
    series: (matchers, { start, end }, { signal, ...options } = {}) => service({ kind: 'series', matchers, start, end, options }, signal),
    push: (format, body, { encoding, stamp, signal }) => send({ format, body, encoding, stamp }, signal),
    write: (rows) => send({ rows }),
    async end(matchers, time) {
      const alive = await service<readonly LabelRecord[]>(
        { kind: 'series', matchers: [], start: time - aliveMs, end: time, options: { enforce: matchers } },
        undefined,
      );
      const { accepted } = await send({ rows: alive.map((labels) => ({ labels, time, value: 0, stale: true })) });
      return accepted;
    },
    async page(page, signal) {
      const forwarded = { path: `status/${page}`, pairs: [], timeoutMs: probeMs } as const;
      if (page === 'tsdb') {
        return await question(forwarded, signal);
      }
      // Clients choose what they ask for by the version of whoever answers.
      const version = page === 'buildinfo' ? await versionOf(() => question(forwarded, signal)) : undefined;
      return version === undefined
        ? ownPage(page, { settings: own, build, startedAt })
        : JSON.stringify({ status: 'success', data: { version, revision: build.version, branch: 'svc' } });
    },
    health: () => ({ ok: true, detail: lastTrouble === undefined ? name : `${name}: ${lastTrouble}` }),
    async probe(signal) {
      try {
        const timed = { path: 'query', pairs: [['query', '1']], timeoutMs: probeMs } as const;
        await question(timed, signal);
        const version = await versionOf(() => question({ path: 'status/buildinfo', pairs: [], timeoutMs: probeMs }, signal));
        return { ok: true, detail: 'it answers', ...(version !== undefined && { version }) };
      } catch (error) {
        return { ok: false, detail: messageOf(error), code: isSvcError(error) ? error.code : 'internal' };
      }
    },
    state: (): DriverState => ({ status: settings.url === '' ? 'failed' : 'running', url: settings.url, pid: null, startedAt }),
    close: async () => undefined,
  };
}

/** As a form where the parameters may be long; the other pages answer GET alone. */
function asRequest(path: string, pairs: Pairs): { readonly target: string; readonly request: Pick<OutboundRequest, 'method' | 'body' | 'headers'> } {
  const text = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();
  return asForm.has(path)
    ? { target: path, request: { method: 'POST', body: text, headers: { 'content-type': 'application/x-www-form-urlencoded' } } }
    : { target: text === '' ? path : `${path}?${text}`, request: {} };
}

/** Another's server has no batches: a few beside each other. */
async function fewAtOnce(queries: readonly string[], ask: (query: string) => Promise<InstantAnswer>): Promise<readonly (InstantAnswer | Error)[]> {
  const answers: (InstantAnswer | Error)[] = [];
  let next = 0;
  const asker = async (): Promise<void> => {
    while (next < queries.length) {
      const at = next++;
      answers[at] = await ask(queries[at]!).catch((error: unknown) => (error instanceof Error ? error : new SvcError('upstream_error', messageOf(error))));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, queries.length) }, asker));
  return answers;
}

const atOnce = 4;

const asForm: ReadonlySet<string> = new Set(['query', 'query_range', 'series', 'labels']);

/** What a server says it is; one that does not say has no version. */
async function versionOf(ask: () => Promise<Uint8Array>): Promise<string | undefined> {
  try {
    const { data } = JSON.parse(Buffer.from(await ask()).toString('utf8')) as { data?: { version?: unknown } };
    return typeof data?.version === 'string' && data.version !== '' ? data.version.slice(0, 80) : undefined;
  } catch (error) {
    if (isSvcError(error) || error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}

function headersOf({ token, user, password, tenant }: RemoteSettings): Record<string, string> {
  const authorization =
    token !== '' ? `Bearer ${token}` : user !== '' || password !== '' ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : '';
  return { accept: 'application/json', ...(authorization !== '' && { authorization }), ...(tenant !== '' && { 'x-scope-orgid': tenant }) };
}

function tlsOf({ tls: { ca, cert, key, insecure } }: RemoteSettings): OutboundRequest['tls'] {
  return { ...(ca !== '' && { ca }), ...(cert !== '' && { cert }), ...(key !== '' && { key }), ...(insecure && { insecure }) };
}

const retryAfter = ({ headers }: OutboundReply): number => Math.min(300, Math.max(1, Number(headers['retry-after']) || 5));
