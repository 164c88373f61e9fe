import {
  type OutboundReply,
  type OutboundRequest,
  type PluginContext,
  type SvcError,
} from 'svc/sdk';

import { queryError } from '../run/query-error.ts';
import { errors } from './errors.ts';
import type { RemoteSettings } from './remote-settings.ts';

/** Names of the other server, and of the settings that lead to it, for errors. */
export interface RemoteServer {
  /** Prefix of the settings' keys: `logs`. */
  readonly plugin: string;
  /** `the log store`. */
  readonly name: string;
  /** Product that the server is or is compatible with: `Loki`. */
  readonly product: string;
  /** Settings to check if a path is unknown there. */
  readonly addresses: string;
}

export interface RemoteCall {
  readonly path: string;
  /** Base URL of the server, if it differs from that of queries. */
  readonly base?: string;
  readonly search?: URLSearchParams;
  /** Parameters that may be long: they go as a form. */
  readonly form?: URLSearchParams;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array };
  readonly accept?: string;
  /** Headers beyond those of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const maxAnswerBytes = 64 * 1024 * 1024;
const longestReason = 1_000;

/** Client of the configured server; an invalid answer becomes an error that says what to do. */
export class RemoteClient {
  readonly #fetch: PluginContext['fetch'];
  readonly #server: RemoteServer;
  readonly #settings: () => RemoteSettings;

  constructor(fetch: PluginContext['fetch'], server: RemoteServer, settings: () => RemoteSettings) {
    this.#fetch = fetch;
    this.#server = server;
    this.#settings = settings;
  }

  async call(call: RemoteCall): Promise<Uint8Array> {
    const reply = await this.#send(call);
    if (reply.status >= 200 && reply.status < 300) {
      return reply.body;
    }
    throw this.#refusal(reply);
  }

  /** Undefined when there is no such thing; a server that does not know the path is an error all the same. */
  async find(call: RemoteCall): Promise<Uint8Array | undefined> {
    const reply = await this.#send(call);
    if (reply.status === 200) {
      return reply.body;
    }
    if (reply.status === 404 && !/page not found|<html/i.test(textOf(reply))) {
      return undefined;
    }
    throw this.#refusal(reply);
  }

  #send({
    path,
    base,
    search,
    form,
    body,
    accept,
    headers,
    timeoutMs,
    signal,
  }: RemoteCall): Promise<OutboundReply> {
    const settings = this.#settings();
    const { plugin, product } = this.#server;
    if (settings.url === '') {
      throw errors.no_remote_url({ plugin, product }, { retryAfterSeconds: 60 });
    }
    const type = form === undefined ? body?.type : 'application/x-www-form-urlencoded';
    const request: OutboundRequest = {
      method: type === undefined ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...credentials(settings),
        ...(accept !== undefined && { accept }),
        ...(type !== undefined && { 'content-type': type }),
      },
      body: form === undefined ? body?.bytes : form.toString(),
      timeoutMs,
      maxBytes: maxAnswerBytes,
      tls: { ...(settings.ca !== '' && { ca: settings.ca }), insecure: settings.insecure },
      ...(signal && { signal }),
    };
    return this.#fetch(
      `${base ?? settings.url}${path}${search !== undefined && search.size > 0 ? `?${search.toString()}` : ''}`,
      request,
    );
  }

  /** Returns the error: the caller's own mistakes as such; anything else is the other server's. */
  #refusal(reply: OutboundReply): SvcError {
    const { status, headers, url } = reply;
    const { plugin, name, addresses } = this.#server;
    const server = `${name} at ${new URL(url).host}`;
    const reason = textOf(reply);
    if (status === 400 || status === 422) {
      return queryError('bad_data', reason === '' ? `${server} refused the request` : reason);
    }
    if (status === 429) {
      return errors.remote_busy(
        { server, reason },
        { retryAfterSeconds: Math.min(3_600, Number(headers['retry-after']) || 5) },
      );
    }
    const cause =
      status === 401 || status === 403
        ? `does not accept the credentials: check ${plugin}.remote_user, ${plugin}.remote_password and ${plugin}.remote_tenant`
        : status === 404 || status === 405
          ? `does not know the path: is ${addresses}?`
          : status >= 300 && status < 400
            ? `redirects: set ${plugin}.remote_url to where it redirects to`
            : `answered ${status}${reason === '' ? '' : `: ${reason.slice(0, 200)}`}`;
    return errors.remote_failed({ server, cause });
  }
}

const textOf = ({ body }: OutboundReply): string =>
  Buffer.from(body.subarray(0, longestReason)).toString('utf8').trim();

function credentials({ user, password, tenant }: RemoteSettings): Record<string, string> {
  const authorization =
    user !== ''
      ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      : password !== ''
        ? `Bearer ${password}`
        : undefined;
  return {
    ...(authorization !== undefined && { authorization }),
    ...(tenant !== '' && { 'x-scope-orgid': tenant }),
  };
}
