import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import { WebSocket } from 'ws';

import {
  type ClientHandshakeOptions,
  clientHandshake,
  type Welcome,
} from '../handshake/client-handshake.ts';
import { TunnelRefusal } from '../handshake/hello.ts';
import { closeCode, maxMessageBytes, tunnelProtocol } from '../message/limits.ts';
import type { MessageTransport } from '../message/transport.ts';
import { WebSocketTransport } from '../message/web-socket.ts';
import type { SessionOptions, TunnelSession } from '../session/contract.ts';
import { openSession } from '../session/session.ts';
import { errors } from './errors.ts';
import { through } from './proxy.ts';

export interface DialOptions {
  /** `wss://manager.example/internal/tunnel`; http and https are read as ws and wss. */
  readonly url: string;
  /** `sha256/…` of the manager's public key. With it no certificate authority is asked; without it the system's decide. */
  readonly pin?: string | undefined;
  /** PEM; in place of the system's authorities. */
  readonly ca?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Local address to dial from; chosen by the system by default. */
  readonly localAddress?: string | undefined;
  /** Proxy to CONNECT through; with user and password, if it requires them. */
  readonly proxy?: string | undefined;
  /** Time limit for the upgrade to be answered; default 15 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectOptions {
  readonly dial: DialOptions;
  readonly handshake: ClientHandshakeOptions;
  readonly session: Omit<SessionOptions, 'side' | 'sweeper'>;
}

export interface Connection {
  readonly session: TunnelSession;
  readonly welcome: Welcome;
}

/** Dials, proves, and opens the edge's side of a session. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const transport = await dial(options.dial);
  const welcome = await clientHandshake(transport, options.handshake);
  return {
    welcome,
    session: openSession(transport, {
      ...options.session,
      side: 'edge',
      sweeper: options.handshake.sweeper,
    }),
  };
}

const answerMs = 15_000;
const tcpKeepAliveMs = 60_000;
const longestRetryAfter = 3_600;
const pinAdvice =
  'either the connection is intercepted, or the manager has another key now; if so, enrol again with its --pin';

/**
 * Opens the WebSocket of a tunnel. Throws TunnelRefusal if the manager requests a retry time,
 * SvcError unavailable otherwise.
 */
export function dial(options: DialOptions): Promise<MessageTransport> {
  const { url, headers, timeoutMs = answerMs, signal } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const ws = new WebSocket(url, [tunnelProtocol], {
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      handshakeTimeout: timeoutMs,
      followRedirects: false,
      ...(headers && { headers }),
      createConnection: ((to: Target, opened: Opened) => connection(to, options, opened)) as never,
    });
    const abort = (): void => ws.terminate();
    const settle = (error?: unknown): void => {
      signal?.removeEventListener('abort', abort);
      if (error !== undefined) {
        reject(error);
      } else {
        resolve(new WebSocketTransport(ws));
      }
    };
    signal?.addEventListener('abort', abort, { once: true });
    ws.once('open', () => settle());
    ws.once('unexpected-response', (_request, response) => {
      response.destroy();
      ws.terminate();
      const after = Number(response.headers['retry-after']);
      const refusal = errors.no_tunnel({ url, status: response.statusCode! });
      const retry = after > 0 ? Math.min(after, longestRetryAfter) * 1_000 : undefined;
      settle(
        retry === undefined
          ? refusal
          : new TunnelRefusal(closeCode.unavailable, refusal.message, {
              minMs: retry,
              maxMs: 2 * retry,
            }),
      );
    });
    // After the opening 'close' reports a broken connection.
    ws.on('error', (error) =>
      settle(
        signal?.aborted
          ? signal.reason
          : errors.dial_failed({ url, cause: error.message }, { cause: error }),
      ),
    );
  });
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly servername?: string;
}

type Opened = (error: Error | null, socket?: Socket) => void;

function connection(
  { host, port, servername }: Target,
  options: DialOptions,
  opened: Opened,
): Socket | undefined {
  const { protocol } = new URL(options.url);
  const { proxy } = options;
  const from = options.localAddress === undefined ? {} : { localAddress: options.localAddress };
  const secure = protocol === 'wss:' || protocol === 'https:';
  if (proxy !== undefined) {
    return through(proxy, secure)({ host, port, ...trust(options) }, (error, socket) =>
      opened(error, socket && guarded(socket, secure, options)),
    );
  }
  const socket = secure
    ? connectTls({
        host,
        port,
        ...from,
        ...(servername !== undefined && { servername }),
        ...trust(options),
      })
    : connectTcp({ host, port, ...from, noDelay: true });
  return guarded(socket, secure, options);
}

/** Checks the pin before the first byte of the request is sent. */
function guarded(
  socket: Socket,
  secure: boolean,
  { pin, timeoutMs = answerMs }: DialOptions,
): Socket {
  // A socket that is made elsewhere does not get the time limit of the request; the WebSocket takes it away when it is open.
  socket.setTimeout(timeoutMs);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, tcpKeepAliveMs);
  if (secure && pin !== undefined) {
    const tls = socket as TLSSocket;
    tls.prependOnceListener('secureConnect', () => {
      const shown = tls.getPeerX509Certificate();
      if (!shown || pinOf(shown.publicKey) !== pin) {
        tls.destroy(
          new Error(
            `the key of the server is not the pinned one, but ${shown ? pinOf(shown.publicKey) : 'none'}: ${pinAdvice}`,
          ),
        );
      }
    });
  }
  return socket;
}

function trust({ pin, ca }: DialOptions): { rejectUnauthorized?: boolean; ca?: string } {
  if (pin !== undefined) {
    // The key itself is verified; that is stronger than any authority.
    return { rejectUnauthorized: false };
  }
  return ca === undefined ? {} : { ca };
}

/** `sha256/…` over the public key of a certificate, PEM or DER. */
export const spkiPin = (certificate: string | Uint8Array): string =>
  pinOf(new X509Certificate(certificate).publicKey);

const pinOf = (key: KeyObject): string =>
  `sha256/${createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64')}`;

/** An address of a manager that may live below a path, such as `https://example.org/svc`. */
export function belowManager(manager: string, path: string): URL {
  const base = new URL(manager);
  return new URL(`${base.pathname.replace(/\/+$/, '')}${path}`, base.origin);
}
