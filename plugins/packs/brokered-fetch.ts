import { type Clock, type OutboundReply, type OutboundRequest } from 'svc/sdk';

import { errors } from './errors.ts';
import { hostsIn } from './rights/setting-hosts.ts';

export interface BrokeredFetchParts {
  readonly id: string;
  /** Hosts that the manifest names; `{key}` is the host in the setting of that key. */
  readonly hosts: readonly string[];
  readonly setting: (key: string) => unknown;
  /** Why the host is beyond what an administrator allows at this moment; undefined where it is not. */
  readonly beyond: (host: string) => string | undefined;
  /** The one that checks where addresses lead. */
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly callMs: number;
  readonly clock: Clock;
  /** Ends requests with the generation of the pack. */
  readonly signal: AbortSignal;
}

/** Request from the process of the pack, unchecked; `readAsked` checks every field. */
interface Asked {
  readonly url: string;
  readonly method: NonNullable<OutboundRequest['method']>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly ca: string | undefined;
}

const methods: readonly unknown[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const maxHeaders = 50;
const maxText = 100_000;

/** Headers that belong to the connection, and not to the requester. */
const closedHeaders =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;
const credentials = /^(?:authorization|cookie|x-.*(?:key|token).*)$/i;

const maxReplyBytes = 4 * 1024 * 1024;
const maxRedirects = 5;
const atOnce = 8;
const perMinute = 300;
const minuteMs = 60_000;

/** Requests that svc makes for one pack: to the hosts that it was granted, as far as the gate lets it reach, redirects included. */
export class BrokeredFetch {
  readonly #parts: BrokeredFetchParts;
  #open = 0;
  #counted = 0;
  #countedFrom = -Infinity;

  constructor(parts: BrokeredFetchParts) {
    this.#parts = parts;
  }

  async ask(input: unknown): Promise<OutboundReply> {
    const asked = readAsked(input);
    this.#pace();
    this.#open += 1;
    try {
      return await this.#follow(asked);
    } finally {
      this.#open -= 1;
    }
  }

  async #follow({ url, method, headers, body, timeoutMs, ca }: Asked): Promise<OutboundReply> {
    const { fetch, callMs, clock, signal } = this.#parts;
    const until = clock.monotonic() + Math.min(timeoutMs, callMs);
    const tls = ca === undefined ? {} : { tls: { ca } };
    let sent: OutboundRequest = { method, headers, ...(body !== undefined && { body }) };
    let target = this.#allowed(url);
    for (let left = maxRedirects; ; left -= 1) {
      const reply = await fetch(target.href, {
        ...sent,
        ...tls,
        signal,
        maxBytes: maxReplyBytes,
        timeoutMs: Math.max(1, until - clock.monotonic()),
      });
      const { location } = reply.headers;
      if (location === undefined || reply.status < 300 || reply.status > 399) {
        return reply;
      }
      if (left === 0) {
        throw errors.redirects({ origin: target.origin, maxRedirects });
      }
      const next = this.#allowed(
        URL.canParse(location, target.href) ? new URL(location, target.href).href : location,
      );
      sent = redirected(sent, reply.status, next.origin === target.origin);
      target = next;
    }
  }

  /** Throws unless the pack may ask this address. */
  #allowed(address: string): URL {
    const { id, hosts, setting, beyond } = this.#parts;
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw errors.fetch_address();
    }
    const named = hosts.flatMap((host) =>
      host.startsWith('{') ? hostsIn(setting(host.slice(1, -1))) : [host],
    );
    if (!named.some((host) => covers(host, url))) {
      throw errors.denied_host({ id, host: url.host, hosts: hosts.join(', ') || 'none' });
    }
    const cause = beyond(url.hostname);
    if (cause !== undefined) {
      throw errors.beyond_ceiling({ id, host: url.host, cause });
    }
    return url;
  }

  #pace(): void {
    const { clock, id } = this.#parts;
    const now = clock.monotonic();
    if (now - this.#countedFrom >= minuteMs) {
      [this.#countedFrom, this.#counted] = [now, 0];
    }
    this.#counted += 1;
    if (this.#open >= atOnce || this.#counted > perMinute) {
      throw errors.fetch_limited(
        { id, atOnce, perMinute },
        { retryAfterSeconds: Math.ceil((this.#countedFrom + minuteMs - now) / 1_000) },
      );
    }
  }
}

function readAsked(input: unknown): Asked {
  const {
    url,
    method = 'GET',
    headers = {},
    text,
    base64,
    timeoutMs = Infinity,
    ca,
  } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const pairs =
    typeof headers === 'object' && headers !== null ? Object.entries(headers) : undefined;
  const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
  const fits =
    isText(url ?? 0) &&
    methods.includes(method) &&
    typeof timeoutMs === 'number' &&
    timeoutMs > 0 &&
    [text, base64, ca].every(isText);
  if (
    !fits ||
    pairs === undefined ||
    pairs.length > maxHeaders ||
    !pairs.every(([, value]) => isText(value ?? 0))
  ) {
    throw errors.fetch_form({ options: '{method, headers, body, timeoutMs, ca}', maxHeaders });
  }
  const unfit = pairs.find(
    ([name, value]) =>
      closedHeaders.test(name) ||
      !/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) ||
      /[^\t -~\u0080-\u00ff]/.test(String(value)),
  );
  if (unfit !== undefined || [url, ca].some((value) => String(value).length > maxText)) {
    throw errors.fetch_body({
      detail: unfit === undefined ? 'address too long' : `the header ${unfit[0].slice(0, 100)}`,
    });
  }
  const body =
    typeof base64 === 'string' ? Buffer.from(base64, 'base64') : (text as string | undefined);
  return {
    url: String(url),
    method: method as Asked['method'],
    headers: headers as Asked['headers'],
    body,
    timeoutMs,
    ca: ca as string | undefined,
  };
}

/** `api.example.com` with the ports of http and https, `api.example.com:8443`, or `*.example.com` for all below it. */
function covers(host: string, url: URL): boolean {
  const [, star = '', name = '', port = ''] =
    /^(\*\.)?(.*?)(?::(\d+))?$/.exec(host.toLowerCase()) ?? [];
  const isPort =
    port === ''
      ? url.port === ''
      : (url.port || (url.protocol === 'https:' ? '443' : '80')) === port;
  return isPort && (star === '' ? url.hostname === name : url.hostname.endsWith(`.${name}`));
}

/**
 * Returns the redirected request as browsers do: a POST becomes a GET, and credentials stay with
 * their host.
 */
function redirected(
  { method, headers = {}, body }: OutboundRequest,
  status: number,
  isSame: boolean,
): OutboundRequest {
  const kept = isSame
    ? headers
    : Object.fromEntries(Object.entries(headers).filter(([name]) => !credentials.test(name)));
  const isGet = status === 303 || (method === 'POST' && status < 303);
  return {
    method: isGet ? 'GET' : method!,
    headers: kept,
    ...(!isGet && body !== undefined && { body }),
  };
}
