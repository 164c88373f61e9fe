import { setMaxListeners } from 'node:events';
import { lookup as resolveName, type LookupAddress } from 'node:dns';
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as HttpAgent,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

import { isSvcError, messageOf, type OutboundReply, type OutboundRequest } from '../sdk/index.ts';
import type { Network } from './address.ts';
import { errors } from './errors.ts';
import { type Reach, requireReach } from './reach.ts';

/** Resolver of names to addresses, replaceable in tests. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** Requests to addresses that people type; `allowed` is asked at every connection, so a changed setting counts at once. */
export class Outbound {
  readonly #allowed: () => readonly Network[];
  readonly #resolve: Resolve;
  readonly #pools = { configured: openPool(), loopback: openPool() };
  /** Networks that the pooled connections were checked against. */
  #known: readonly Network[];

  constructor(allowed: () => readonly Network[], resolve: Resolve = byName) {
    this.#allowed = allowed;
    this.#resolve = resolve;
    this.#known = allowed();
  }

  /** Sends a request; `owner` ends it with the scope that makes it. */
  async fetch(
    url: string,
    request: OutboundRequest = {},
    owner?: AbortSignal,
  ): Promise<OutboundReply> {
    // What is left of a caller's own deadline is seldom a whole number, and only those are taken.
    const deadline = AbortSignal.timeout(Math.max(0, Math.ceil(request.timeoutMs ?? 10_000)));
    let target = parseTarget(url);
    let headers = request.headers ?? {};
    let method = request.method ?? 'GET';
    let body = request.body;
    for (let left = request.redirects ?? 0; ; left--) {
      const reply = await this.#exchange(target, { ...request, method, headers, body }, [
        deadline,
        request.signal,
        owner,
      ]);
      const location =
        reply.status >= 300 && reply.status < 400 ? reply.headers['location'] : undefined;
      if (location === undefined || request.redirects === undefined) {
        return reply;
      }
      if (left <= 0) {
        throw errors.redirects({ origin: target.origin, max: request.redirects });
      }
      const next = parseTarget(new URL(location, target).href);
      headers = next.origin === target.origin ? headers : withoutCredentials(headers);
      if (reply.status === 303 || (method === 'POST' && reply.status < 303)) {
        [method, body] = ['GET', undefined];
      }
      target = next;
    }
  }

  /** One address of a host that may be reached, for protocols other than HTTP: who connects to it connects to what was checked. */
  addressOf(host: string): Promise<string> {
    const lookup = checked('configured', this.#allowed, this.#resolve);
    return new Promise((done, failed) =>
      lookup(host, {}, (error, address) => (error ? failed(error) : done(address as string))),
    );
  }

  close(): void {
    Object.values(this.#pools).forEach(closePool);
  }

  async #exchange(
    target: URL,
    request: OutboundRequest,
    stops: readonly (AbortSignal | undefined)[],
    isRepeat = false,
  ): Promise<OutboundReply> {
    const { reach = 'configured', idleMs = 0 } = request;
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // A literal address is never looked up, so it is checked here; names are where they are resolved.
    if (isIP(host) !== 0) {
      requireReach(host, host, reach, this.#allowed());
    }
    const secure = target.protocol === 'https:';
    return await new Promise<OutboundReply>((done, failed) => {
      const outgoing: ClientRequest = (secure ? httpsRequest : httpRequest)(target, {
        method: request.method ?? 'GET',
        headers: {
          'user-agent': 'svc',
          ...request.headers,
          ...(request.body !== undefined && { 'content-length': Buffer.byteLength(request.body) }),
        },
        agent: !isRepeat && this.#poolOf(reach)[target.protocol as keyof Pool],
        lookup: checked(reach, this.#allowed, this.#resolve),
        ...(secure && request.tls && tlsOptions(request.tls)),
      });
      // With an error the socket of a whole answer, free again by then, would fail with nobody listening.
      const stop = (): void =>
        void outgoing.destroy(talking === outgoing ? new Error('stopped') : undefined);
      // By hand: AbortSignal.any keeps every request alive on Node 20. One scope may well have more than ten requests at once.
      for (const signal of stops.filter((one) => one !== undefined)) {
        setMaxListeners(0, signal);
        signal.addEventListener('abort', stop, { once: true });
      }
      outgoing.once('close', () =>
        stops.forEach((signal) => signal?.removeEventListener('abort', stop)),
      );
      let talking: ClientRequest | IncomingMessage = outgoing;
      outgoing.once('error', (error) => {
        // A peer may close a kept connection in the moment it is used again.
        const isStale =
          talking === outgoing &&
          outgoing.reusedSocket &&
          /^(?:ECONNRESET|EPIPE)$/.test(String((error as { code?: string }).code));
        return isStale && isRepeatable(request)
          ? done(this.#exchange(target, request, stops, true))
          : failed(toTrouble(error, target, stops, request));
      });
      outgoing.once('upgrade', (incoming, socket) => {
        done({
          status: 101,
          headers: plainHeaders(incoming),
          body: new Uint8Array(),
          url: target.href,
        });
        socket.destroy();
      });
      outgoing.once('response', (incoming) => {
        talking = incoming;
        const reply = answerOf(incoming, target, request).catch((error: unknown) => {
          outgoing.destroy();
          throw toTrouble(error, target, stops, request);
        });
        done(reply);
      });
      void (stops.some((signal) => signal?.aborted) && stop());
      const silent = (): Error => errors.silent({ origin: target.origin, seconds: idleMs / 1000 });
      void (idleMs > 0 && outgoing.setTimeout(idleMs, () => talking.destroy(silent())));
      outgoing.end(request.body);
    });
  }

  /** Connections that are kept were checked against the list of their time, so another list starts with none. */
  #poolOf(reach: Reach): Pool {
    const networks = this.#allowed();
    if (networks !== this.#known) {
      this.#known = networks;
      closePool(this.#pools.configured);
      this.#pools.configured = openPool();
    }
    return this.#pools[reach];
  }
}

/** Returns whether the peer may get it twice: it may have acted on what it did not answer. */
const isRepeatable = ({ method = 'GET', headers = {} }: OutboundRequest): boolean =>
  !/^(?:POST|PATCH)$/i.test(method) ||
  Object.keys(headers).some((name) => /^idempotency-key$/i.test(name));

type Pool = Readonly<{ 'http:': HttpAgent; 'https:': HttpsAgent }>;

function openPool(): Pool {
  // An agent heeds for how long a peer says that it keeps a connection, less a second, only where it has a time-out of its own.
  const options = {
    keepAlive: true,
    maxSockets: 64,
    maxFreeSockets: 16,
    scheduling: 'lifo',
    timeout: 60_000,
  } as const;
  return { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };
}

const closePool = (pool: Pool): void =>
  [pool['http:'], pool['https:']].forEach((agent) => agent.destroy());

function parseTarget(text: string): URL {
  if (!URL.canParse(text)) {
    throw errors.no_url();
  }
  const target = new URL(text);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw errors.scheme({ scheme: target.protocol });
  }
  if (target.username !== '' || target.password !== '') {
    throw errors.credentials_in_url();
  }
  target.hash = '';
  return target;
}

/** Connects to what was checked and to nothing else: the name is resolved once, here. */
const checked =
  (reach: Reach, allowed: () => readonly Network[], resolve: Resolve): LookupFunction =>
  (host, options, done) => {
    resolve(host, (error, addresses) => {
      if (error || addresses.length === 0) {
        done(error ?? new Error(`${host} has no address`), '');
        return;
      }
      try {
        const networks = allowed();
        addresses.forEach(({ address }) => requireReach(host, address, reach, networks));
      } catch (refusal) {
        done(refusal as Error, '');
        return;
      }
      if (options.all) {
        done(null, [...addresses]);
      } else {
        done(null, addresses[0]!.address, addresses[0]!.family);
      }
    });
  };

const byName: Resolve = (host, done) =>
  resolveName(host, { all: true }, (error, addresses) => done(error, addresses ?? []));

async function answerOf(
  incoming: IncomingMessage,
  { href }: URL,
  { onBody, maxBytes = 1024 * 1024 }: OutboundRequest,
): Promise<OutboundReply> {
  const head = { status: incoming.statusCode ?? 0, headers: plainHeaders(incoming), url: href };
  const parts: Buffer[] = [];
  const take = onBody?.(head) ?? ((part: Uint8Array) => void parts.push(part as Buffer));
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) {
      throw errors.reply_too_large({ max: maxBytes });
    }
    await take(part);
  }
  return { ...head, body: Buffer.concat(parts) };
}

function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

const withoutCredentials = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !/^(?:authorization|cookie|proxy-authorization|x-.*(?:key|token).*)$/i.test(name),
    ),
  );

const tlsOptions = ({
  serverName,
  insecure,
  ...files
}: NonNullable<OutboundRequest['tls']>): object => ({
  ...files,
  ...(serverName !== undefined && { servername: serverName }),
  ...(insecure && { rejectUnauthorized: false }),
});

/** One sentence for the person who typed the address; the cause stays for the log. */
function toTrouble(
  error: unknown,
  { origin }: URL,
  [deadline, ...others]: readonly (AbortSignal | undefined)[],
  { timeoutMs = 10_000 }: OutboundRequest,
): Error {
  if (isSvcError(error)) {
    return error;
  }
  if (others.some((signal) => signal?.aborted)) {
    return errors.stopped(
      { origin },
      {
        cause: error,
      },
    );
  }
  if (deadline?.aborted) {
    return errors.timed_out(
      { origin, seconds: timeoutMs / 1000 },
      {
        cause: error,
      },
    );
  }
  return errors.failed(
    { origin, cause: messageOf(error) || String((error as { code?: string }).code) },
    {
      cause: error,
    },
  );
}
