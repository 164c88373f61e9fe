import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import type { PushParams } from 'svc/edge-protocol';
import { type Clock, isSvcError, messageOf } from 'svc/sdk';
import { belowManager, type ProxyTarget, spkiPin, through, type TunnelSession } from 'svc/tunnel';

import type { BufferRecord } from './buffer/record.ts';
import type { Credentials } from './credentials.ts';
import { errors } from './errors.ts';

export type PushOutcome =
  | { readonly kind: 'taken' }
  /** Refused for good: sending it again would not help. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Later; `afterMs` is what the manager asked for. */
  | { readonly kind: 'later'; readonly reason: string; readonly afterMs: number | undefined };

/**
 * Max size of a push through the tunnel, which delays pings and calls behind it for a moment only;
 * larger ones are HTTP requests.
 */
export const maxTunnelBytes = 128 * 1024;

const wholeMs = 60_000;
const maxAnswerBytes = 16 * 1024;
const maxRetryAfterMs = 600_000;
/** Codes about the body. For all others a retry may succeed. */
const finalCodes = new Set(['invalid_argument', 'not_found', 'conflict']);
const finalStatus = new Set([400, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422]);

/** Hands records to the manager's data plane by requests, over connections that are kept. */
export class HttpPusher {
  readonly #credentials: () => Credentials;
  readonly #clock: Clock;
  readonly #plain: HttpAgent;
  // A resumed session shows no certificate, and so no key to hold against the pin.
  readonly #secure: HttpsAgent;
  /** Connections that have shown the pinned key. */
  readonly #pinned = new WeakSet<object>();

  constructor(credentials: () => Credentials, clock: Clock) {
    this.#credentials = credentials;
    this.#clock = clock;
    this.#plain = this.#byProxy(
      new HttpAgent({ keepAlive: true, maxSockets: 3, timeout: wholeMs }),
      false,
    );
    this.#secure = this.#byProxy(
      new HttpsAgent({ keepAlive: true, maxSockets: 3, timeout: wholeMs, maxCachedSessions: 0 }),
      true,
    );
  }

  /** Each connection by the proxy that the keys name by then. */
  #byProxy<A extends HttpAgent>(agent: A, secure: boolean): A {
    // Its types do not name this method, its documentation does.
    const own = agent as unknown as {
      createConnection: (options: ProxyTarget, opened: () => void) => unknown;
    };
    const direct = own.createConnection.bind(agent);
    own.createConnection = (options, opened) => {
      const { proxy } = this.#credentials();
      return proxy === undefined
        ? direct(options, opened)
        : through(proxy, secure)(options, opened);
    };
    return agent;
  }

  push(record: BufferRecord, signal: AbortSignal): Promise<PushOutcome> {
    return this.#send(record, signal).catch((error: unknown): PushOutcome => ({
      kind: 'later',
      reason: messageOf(error),
      afterMs: undefined,
    }));
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #send({ head, body }: BufferRecord, signal: AbortSignal): Promise<PushOutcome> {
    const { manager, access_key, secret_key, pin, ca } = this.#credentials();
    const url = belowManager(manager, head.to);
    const isSecure = url.protocol === 'https:';
    const options: RequestOptions & { rejectUnauthorized?: boolean; ca?: string } = {
      method: 'POST',
      agent: isSecure ? this.#secure : this.#plain,
      signal: AbortSignal.any([signal, AbortSignal.timeout(wholeMs)]),
      headers: {
        'content-type': head.type,
        ...(head.encoding !== undefined && { 'content-encoding': head.encoding }),
        'content-length': body.length,
        authorization: `Basic ${Buffer.from(`${access_key}:${secret_key}`).toString('base64')}`,
        'user-agent': 'svc-edge',
      },
      ...(isSecure && pin !== undefined && { rejectUnauthorized: false }),
      ...(isSecure && ca !== undefined && { ca }),
    };
    return new Promise((resolve, reject) => {
      const request = (isSecure ? httpsRequest : httpRequest)(
        url,
        options,
        (response) => void answered(response, this.#clock).then(resolve, reject),
      );
      request.once('error', reject);
      // Neither the keys nor the body go out before the other side is known to be the manager.
      request.once('socket', (socket) => {
        const refuse = (): void => void request.destroy(errors.pin_mismatch({ host: url.host }));
        this.#whenPinned(socket, pin, () => request.end(body), refuse);
      });
    });
  }

  #whenPinned(socket: Socket, pin: string | undefined, send: () => void, refuse: () => void): void {
    if (!(socket instanceof TLSSocket) || pin === undefined || this.#pinned.has(socket)) {
      send();
      return;
    }
    socket.once('secureConnect', () => {
      if (spkiPin(socket.getPeerX509Certificate()?.raw ?? '') !== pin) {
        refuse();
        return;
      }
      this.#pinned.add(socket);
      send();
    });
  }
}

async function answered(response: IncomingMessage, clock: Clock): Promise<PushOutcome> {
  const status = response.statusCode ?? 0;
  let text = '';
  for await (const chunk of response) {
    text += text.length < maxAnswerBytes ? (chunk as Buffer).toString('utf8') : '';
  }
  if (status >= 200 && status < 300) {
    return { kind: 'taken' };
  }
  const reason = `HTTP ${status}: ${text.slice(0, 300).replaceAll(/\s+/g, ' ').trim()}`;
  return finalStatus.has(status)
    ? { kind: 'refused', reason }
    : { kind: 'later', reason, afterMs: retryAfter(response.headers['retry-after'], clock) };
}

/** Seconds or a date, as RFC 9110 has it. */
export function retryAfter(
  header: string | undefined,
  clock: Pick<Clock, 'now'>,
): number | undefined {
  if (header === undefined) {
    return undefined;
  }
  const ms = /^\d{1,9}$/.test(header.trim())
    ? Number(header) * 1_000
    : Date.parse(header) - clock.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxRetryAfterMs) : undefined;
}

/** Hands a record to the manager through the tunnel. */
export async function pushThrough(
  session: TunnelSession,
  { head, body }: BufferRecord,
  signal: AbortSignal,
): Promise<PushOutcome> {
  const params: PushParams = {
    to: head.to,
    type: head.type,
    encoding: head.encoding,
    body: Buffer.from(body).toString('base64'),
  };
  try {
    await session.call('push', params, { timeoutMs: wholeMs, signal });
    return { kind: 'taken' };
  } catch (error) {
    const reason = messageOf(error);
    if (isSvcError(error) && finalCodes.has(error.code)) {
      return { kind: 'refused', reason };
    }
    const seconds = isSvcError(error) ? error.retryAfterSeconds : undefined;
    return { kind: 'later', reason, afterMs: seconds === undefined ? undefined : seconds * 1_000 };
  }
}
