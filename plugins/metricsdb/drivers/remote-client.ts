import {
  type MaybePromise,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
  type SvcError,
} from 'svc/sdk';
import { queryError, type QueryErrorKind } from 'svc/query';

import type { Pairs } from '../thread/contract.ts';
import { errors } from './errors.ts';
import type { RemoteSettings } from './settings.ts';

export interface RemoteAddress {
  readonly name: 'remote' | 'process';
  readonly settings: RemoteSettings;
  readonly reach: 'configured' | 'loopback';
  /** Base URL before /api/v1; throws if there is none. */
  readonly base: (signal: AbortSignal | undefined) => MaybePromise<string>;
}

export interface RemoteReply extends OutboundReply {
  /** The base address that answered. */
  readonly origin: string;
}

interface Question {
  readonly path: string;
  readonly pairs: Pairs;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

const success = /^\s*\{\s*"status"\s*:\s*"success"/;
/** Pages that take a form, where the parameters may be long; the others answer GET alone. */
const formPages: ReadonlySet<string> = new Set(['query', 'query_range', 'series', 'labels']);

/** The address of the settings. */
export const configured = (settings: RemoteSettings): RemoteAddress => ({
  name: 'remote',
  settings,
  reach: 'configured',
  base() {
    if (settings.url === '') {
      throw errors.no_url();
    }
    return settings.url;
  },
});

/** Calls a server of the Prometheus API with the credentials of the settings; nothing of the caller's is passed on. */
export class RemoteClient {
  readonly #fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly #address: RemoteAddress;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #tls: OutboundRequest['tls'];
  #lastTrouble: string | undefined;

  constructor(
    fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>,
    address: RemoteAddress,
  ) {
    this.#fetch = fetch;
    this.#address = address;
    this.#headers = headersOf(address.settings);
    this.#tls = tlsOf(address.settings);
  }

  /** Why the last call failed; undefined when it was answered. */
  get lastTrouble(): string | undefined {
    return this.#lastTrouble;
  }

  async send(path: string, request: OutboundRequest): Promise<RemoteReply> {
    try {
      const origin = await this.#address.base(request.signal);
      const headers = { ...this.#headers, ...request.headers };
      const reply = await this.#fetch(`${origin}${path}`, {
        ...request,
        headers,
        reach: this.#address.reach,
        ...(this.#tls && { tls: this.#tls }),
      });
      this.#lastTrouble = undefined;
      return { origin, ...reply };
    } catch (error) {
      this.#lastTrouble = messageOf(error);
      throw error;
    }
  }

  /** A finished answer of a page below /api/v1. */
  async ask({ path, pairs, timeoutMs, maxBytes, signal }: Question): Promise<Uint8Array> {
    const text = new URLSearchParams(
      pairs.map(([name, value]): [string, string] => [name, value]),
    ).toString();
    const limits = { timeoutMs, maxBytes, ...(signal && { signal }) };
    const reply = formPages.has(path)
      ? await this.send(`/api/v1/${path}`, {
          method: 'POST',
          body: text,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          ...limits,
        })
      : await this.send(`/api/v1/${path}${text === '' ? '' : `?${text}`}`, limits);
    if (reply.status !== 200) {
      throw refusalOf(reply);
    }
    if (!success.test(Buffer.from(reply.body.subarray(0, 64)).toString('latin1'))) {
      throw errors.not_prometheus({ origin: reply.origin });
    }
    return reply.body;
  }
}

function headersOf({ token, user, password, tenant }: RemoteSettings): Record<string, string> {
  const authorization =
    token !== ''
      ? `Bearer ${token}`
      : user !== '' || password !== ''
        ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
        : '';
  return {
    accept: 'application/json',
    ...(authorization !== '' && { authorization }),
    ...(tenant !== '' && { 'x-scope-orgid': tenant }),
  };
}

function tlsOf({ tls: { ca, cert, key, insecure } }: RemoteSettings): OutboundRequest['tls'] {
  return {
    ...(ca !== '' && { ca }),
    ...(cert !== '' && { cert }),
    ...(key !== '' && { key }),
    ...(insecure && { insecure }),
  };
}

const longestReason = 1_000;
const kinds: Readonly<Record<string, QueryErrorKind>> = {
  bad_data: 'bad_data',
  execution: 'execution',
  timeout: 'timeout',
  canceled: 'canceled',
};
const kindOfStatus: Readonly<Record<number, QueryErrorKind>> = {
  400: 'bad_data',
  422: 'execution',
};

/**
 * Translates a refusal by the remote server: what it says about the query concerns the caller,
 * everything else is trouble between servers.
 */
function refusalOf({ status, body, origin }: RemoteReply): SvcError {
  if (status === 401 || status === 403) {
    return errors.credentials_refused({ origin, status });
  }
  if (status === 404) {
    return errors.no_such_api({ origin });
  }
  const reason = reasonIn(body);
  const kind =
    reason &&
    (Object.hasOwn(kinds, reason.errorType) ? kinds[reason.errorType] : kindOfStatus[status]);
  if (reason !== undefined && kind !== undefined) {
    return queryError(kind, reason.error);
  }
  return errors.remote_status({
    origin,
    status,
    detail: reason === undefined ? '' : `: ${reason.error}`,
  });
}

function reasonIn(
  body: Uint8Array,
): { readonly errorType: string; readonly error: string } | undefined {
  try {
    const { errorType, error } = JSON.parse(
      Buffer.from(body.subarray(0, 64 * 1024)).toString('utf8'),
    ) as { errorType?: unknown; error?: unknown };
    return typeof errorType === 'string' && typeof error === 'string'
      ? { errorType, error: error.slice(0, longestReason) }
      : undefined;
  } catch {
    // Most likely a proxy's page: its status is sufficient.
    return undefined;
  }
}
