import { type OutboundReply, type OutboundRequest, type PluginContext, SvcError } from 'svc/sdk';
import { queryError } from 'svc/query';

import type { RemoteSettings } from '../settings.ts';

export interface RemoteCall {
  readonly method: 'GET' | 'POST';
  /** Below the base address. */
  readonly path: string;
  readonly search?: URLSearchParams;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const mostAnswerBytes = 64 * 1024 * 1024;
const longestReason = 1_000;

/** Calls the configured Loki, and says in plain words what went wrong when it does not do what was asked. */
export class LokiClient {
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

  #send({ method, path, search, body, timeoutMs, signal }: RemoteCall): Promise<OutboundReply> {
    const settings = this.#settings();
    if (settings.url === '') {
      throw new SvcError('unavailable', 'logs.driver is remote and logs.remote_url is empty: set the address of a Loki', { retryAfterSeconds: 60 });
    }
    const asForm = method === 'POST' && search !== undefined;
    const url = `${settings.url}${path}${!asForm && search !== undefined && search.size > 0 ? `?${search.toString()}` : ''}`;
    const request: OutboundRequest = {
      method,
      headers: {
        ...credentials(settings),
        ...(body && { 'content-type': 'application/json' }),
        ...(asForm && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: asForm ? String(search) : body,
      timeoutMs,
      maxBytes: mostAnswerBytes,
      tls: { ...(settings.ca !== '' && { ca: settings.ca }), insecure: settings.insecure },
      ...(signal && { signal }),
    };
    return this.#fetch(url, request);
  }

  /** The asker's own mistakes are told as such; everything else is the other server's. */
  #refusal({ status, body, headers }: OutboundReply): SvcError {
    const { host } = new URL(this.#settings().url);
    const reason = Buffer.from(body.subarray(0, longestReason)).toString('utf8').trim();
    if (status === 400 || status === 422) {
      return queryError('bad_data', reason === '' ? `the log store at ${host} refused the request` : reason);
    }
    if (status === 429) {
      return new SvcError('rate_limited', `the log store at ${host} is busy: ${reason}`, {
        retryAfterSeconds: Math.min(3_600, Number(headers['retry-after']) || 5),
      });
    }
    const cause =
      status === 401 || status === 403
        ? 'does not accept the credentials: check logs.remote_user, logs.remote_password and logs.remote_tenant'
        : status === 404
          ? 'does not know the path: is logs.remote_url the base address of a Loki?'
          : status >= 300 && status < 400
            ? 'redirects: set logs.remote_url to where it redirects to'
            : `answered ${status}${reason === '' ? '' : `: ${reason.slice(0, 200)}`}`;
    return new SvcError('upstream_error', `the log store at ${host} ${cause}`);
  }
}

function credentials({ user, password, tenant }: RemoteSettings): Record<string, string> {
  const authorization = user !== '' ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : password !== '' ? `Bearer ${password}` : undefined;
  return { ...(authorization !== undefined && { authorization }), ...(tenant !== '' && { 'x-scope-orgid': tenant }) };
}
