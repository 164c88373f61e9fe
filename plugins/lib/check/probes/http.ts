import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { Facts, Order, Place } from '../model/check.ts';
import type { Means } from '../wire/conversation.ts';
import { dial, secureTrusted } from '../wire/dial.ts';
import { plain } from '../model/plain-text.ts';
import { proxyOf, tunnelThrough } from './proxy.ts';
import type { Stopwatch } from '../wire/stopwatch.ts';

const maxBody = 1024 * 1024;
/** A header that is longer is nobody's to compare. */
const longestHeader = 2_000;
const maxHeaders = 100;
/** Headers that stay with the origin that they were written for. */
const credentials = /^(?:authorization|cookie|proxy-authorization|.*(?:key|token|secret).*)$/i;

/** Header that is for a proxy and for no server behind it. */
const proxyLogin = 'proxy-authorization';

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Sends an HTTP request and reads the answer, following redirects as far as the order says. */
export async function probeHttp({ order, place, watch, signal }: Means): Promise<Partial<Facts>> {
  const { max_redirects: most = 0 } = order;
  let hop: Hop = {
    url: new URL(order.target),
    method: order.method ?? 'GET',
    headers: order.headers ?? {},
    body: order.body,
  };
  for (let redirects = 0; ; redirects++) {
    const facts = await exchange(hop, order, place, watch, signal);
    const { location, ...rest } = facts;
    if (location === undefined || most === 0) {
      const seen = location === undefined ? redirects : redirects + 1;
      return { ...rest, redirects: seen, final_url: hop.url.href };
    }
    if (redirects >= most) {
      throw new Error(`more than ${most} redirects`);
    }
    hop = redirected(hop, location, facts.status);
  }
}

type Answer = Partial<Facts> & { readonly location?: string };

async function exchange(
  { url, method, headers, body }: Hop,
  order: Order,
  { reach }: Place,
  watch: Stopwatch,
  signal: AbortSignal,
): Promise<Answer> {
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  // Of a request through a proxy the place allows the proxy, which decides where it goes on to.
  const proxy = order.proxy === undefined ? undefined : proxyOf(order.proxy);
  const nearest = proxy ?? { host, port };
  const address = await reach(nearest.host, nearest.port, order.ip);
  watch.end('resolve');
  const socket = await dial(address, nearest.port, watch, signal);
  const login = headerOf(order.headers ?? {}, proxyLogin);
  const forProxy = login === undefined ? {} : { [proxyLogin]: login };
  try {
    if (proxy !== undefined && isSecure) {
      await tunnelThrough(socket, `${url.hostname}:${port}`, forProxy);
      watch.end('proxy');
    }
    // Headers are for the server that the certificate names.
    const secured = isSecure ? await secureTrusted(socket, host, order, watch, signal) : undefined;
    const certificate = secured?.certificate;
    const incoming = await answerOver(secured?.socket ?? socket, {
      method,
      path: `${proxy !== undefined && !isSecure ? url.origin : ''}${url.pathname}${url.search}`,
      headers: {
        'user-agent': 'svc-check',
        accept: '*/*',
        ...without(headers, proxyLogin),
        ...(proxy !== undefined && !isSecure && forProxy),
        host: headerOf(headers, 'host') ?? url.host,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        connection: 'close',
      },
      body,
    });
    watch.end('processing');
    const { text, bytes } = await bodyOf(incoming);
    watch.end('transfer');
    signal.throwIfAborted();
    const status = incoming.statusCode ?? 0;
    const { location } = incoming.headers;
    return {
      address: address.address,
      status,
      http_version: incoming.httpVersion,
      headers: headersOf(incoming),
      body: text,
      body_bytes: bytes,
      ...lengthOf(incoming),
      ...(certificate !== undefined && { certificate }),
      ...(status >= 300 && status < 400 && location !== undefined && { location }),
    };
  } finally {
    socket.destroy();
  }
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

function answerOver(
  socket: Socket | TLSSocket,
  { method, path, headers, body }: Question,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ method, path, headers, createConnection: () => socket });
    outgoing.once('error', reject);
    outgoing.once('response', resolve);
    // The answer to a request that asks for another protocol.
    outgoing.once('upgrade', resolve);
    outgoing.end(body);
  });
}

async function bodyOf(
  incoming: IncomingMessage,
): Promise<{ readonly text: string; readonly bytes: number }> {
  if (incoming.statusCode === 101) {
    return { text: '', bytes: 0 };
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    bytes += part.length;
    parts.push(part);
    if (bytes >= maxBody) {
      break;
    }
  }
  return { text: Buffer.concat(parts).subarray(0, maxBody).toString('utf8'), bytes };
}

function redirected(
  { url, method, headers, body }: Hop,
  location: string,
  status: number | undefined,
): Hop {
  if (!URL.canParse(location, url.href)) {
    throw new Error('the redirect leads to no valid address');
  }
  const next = new URL(location, url);
  if (next.protocol !== 'http:' && next.protocol !== 'https:') {
    throw new Error(`the redirect leads to ${plain(next.protocol)}, which is not HTTP`);
  }
  const becomesGet = status === 303 || (status !== 307 && status !== 308 && method === 'POST');
  return {
    url: next,
    method: becomesGet ? 'GET' : method,
    headers:
      next.origin === url.origin
        ? headers
        : Object.fromEntries(
            Object.entries(headers).filter(
              ([name]) => !credentials.test(name) && name.toLowerCase() !== 'host',
            ),
          ),
    body: becomesGet ? undefined : body,
  };
}

const lengthOf = ({ headers, statusCode }: IncomingMessage): Partial<Facts> => {
  const declared = headers['content-length'] ?? (statusCode === 204 ? '0' : '');
  return /^\d{1,15}$/.test(declared) ? { content_length: Number(declared) } : {};
};

const headerOf = (headers: Readonly<Record<string, string>>, wanted: string): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];

const without = (
  headers: Readonly<Record<string, string>>,
  unwanted: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== unwanted));

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, maxHeaders)
      .map(([name, value]) => [name, plain(String(value)).slice(0, longestHeader)]),
  );
