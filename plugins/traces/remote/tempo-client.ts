import { type OutboundReply, type OutboundRequest, type PluginContext, SvcError } from 'svc/sdk';
import { queryError } from 'svc/query';

import type { RemoteSettings } from '../settings.ts';

export interface RemoteCall {
  readonly path: string;
  readonly search?: URLSearchParams;
  /** An export request, in protobuf; without one the call is a question. */
  readonly body?: Uint8Array;
  readonly accept?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const mostAnswerBytes = 64 * 1024 * 1024;
const longestReason = 1_000;
const protobuf = 'application/x-protobuf';

/** Calls the configured Tempo, and says in plain words what went wrong when it does not do what was asked. */
export class TempoClient {
  readonly #fetch: PluginContext['fetch'];
  readonly #settings: () => RemoteSettings;

  constructor(fetch: PluginContext['fetch'], settings: () => RemoteSettings) {
    this.#fetch = fetch;
    this.#settings = settings;
  }

  async call(call: RemoteCall): Promise<Uint8Array> {
    const reply = await this.#send(call);
    if (reply.status >= 200 && reply.status < 300) {
      return reply.body;
    }
    throw this.#refusal(reply);
  }

  /** Undefined when it says that there is no such thing, in the way it says so of a trace. */
  async find(call: RemoteCall): Promise<Uint8Array | undefined> {
    const reply = await this.#send(call);
    const isAbsent = reply.status === 404 && !/page not found|<html/i.test(textOf(reply));
    return isAbsent ? undefined : reply.status === 200 ? reply.body : Promise.reject(this.#refusal(reply));
  }

  #send({ path, search, body, accept, timeoutMs, signal }: RemoteCall): Promise<OutboundReply> {
    const settings = this.#settings();
    if (settings.url === '') {
      throw new SvcError('unavailable', 'traces.driver is remote and traces.remote_url is empty: set the address of a Tempo', { retryAfterSeconds: 60 });
    }
    const base = body === undefined ? settings.url : settings.pushUrl;
    const request: OutboundRequest = {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...credentials(settings), ...(accept !== undefined && { accept }), ...(body && { 'content-type': protobuf }) },
      body,
      timeoutMs,
      maxBytes: mostAnswerBytes,
      tls: { ...(settings.ca !== '' && { ca: settings.ca }), insecure: settings.insecure },
      ...(signal && { signal }),
    };
    return this.#fetch(`${base}${path}${search !== undefined && search.size > 0 ? `?${search.toString()}` : ''}`, request);
  }

  /** The asker's own mistakes are told as such; everything else is the other server's. */
  #refusal(reply: OutboundReply): SvcError {
    const { status, headers, url } = reply;
    const { host } = new URL(url);
    const reason = textOf(reply);
    if (status === 400 || status === 422) {
      return queryError('bad_data', reason === '' ? `the trace store at ${host} refused the request` : reason);
    }
    if (status === 429) {
      return new SvcError('rate_limited', `the trace store at ${host} is busy: ${reason}`, {
        retryAfterSeconds: Math.min(3_600, Number(headers['retry-after']) || 5),
      });
    }
    const cause =
      status === 401 || status === 403
        ? 'does not accept the credentials: check traces.remote_user, traces.remote_password and traces.remote_tenant'
        : status === 404 || status === 405
          ? 'does not know the path: is traces.remote_url the base address of a Tempo, and traces.remote_push_url where it takes OTLP?'
          : status >= 300 && status < 400
            ? 'redirects: set traces.remote_url to where it redirects to'
            : `answered ${status}${reason === '' ? '' : `: ${reason.slice(0, 200)}`}`;
    return new SvcError('upstream_error', `the trace store at ${host} ${cause}`);
  }
}

const textOf = ({ body }: OutboundReply): string => Buffer.from(body.subarray(0, longestReason)).toString('utf8').trim();

function credentials({ user, password, tenant }: RemoteSettings): Record<string, string> {
  const authorization = user !== '' ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : password !== '' ? `Bearer ${password}` : undefined;
  return { ...(authorization !== undefined && { authorization }), ...(tenant !== '' && { 'x-scope-orgid': tenant }) };
}
