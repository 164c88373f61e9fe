import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';

import express, { type Express } from 'express';

import { type Ids, messageOf, type SvcError } from '../../sdk/index.ts';
import { answerMalformed, closeSilent, isHeld, limitConnections } from './connections.ts';
import { serve } from '../pipeline/dispatch.ts';
import { Exchange } from '../exchange/exchange.ts';
import { type Front, openFront } from '../exchange/front.ts';
import type { HttpOptions, TlsOptions } from '../exchange/ports.ts';
import { errors } from './errors.ts';
import { followCertificate, readCertificate } from './tls.ts';

const headerBytes = 3 * 64 * 1024 + 16 * 1024;
/** Longer than proxies keep theirs, so that it is never we who close under a request that is on its way. */
const idleMs = 75_000;
/** Idle time after which a closing server ends a connection. */
const quietMs = 150;
/**
 * Max connections waiting to be accepted: a fleet reconnects at once, and a client that does not
 * fit retries after seconds.
 */
const backlog = 4_096;

/** The only server of the process; its routes are those of the registry's current snapshot. */
export class HttpServer {
  readonly #front: Front;
  readonly #server: Server;
  /** The same for those who come from afar, where a certificate is given. */
  readonly #tls:
    | { readonly server: TlsServer; readonly options: TlsOptions; readonly forget: () => void }
    | undefined;

  constructor(options: HttpOptions) {
    const front = openFront(options);
    const app = express().disable('x-powered-by').disable('etag').set('query parser', 'simple');
    // Requests on a connection that was told to come back later are read, not handled.
    app.use(
      (req, res) =>
        void (
          req.socket.writableEnded ||
          front.gate?.(req, res) ||
          serve(new Exchange(front, req, res, requestIdOf(req.headers['x-request-id'], front.ids)))
        ),
    );
    this.#front = front;
    const settings: ServerOptions = {
      maxHeaderSize: headerBytes,
      insecureHTTPParser: false,
      // Required in the pipeline, where the answer gets a body.
      requireHostHeader: false,
      keepAliveTimeout: idleMs,
      headersTimeout: front.limits.headersTimeoutMs,
      // Node knows one limit for all routes; the shorter one of ordinary routes is kept where bodies are read.
      requestTimeout: front.limits.uploadTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, Math.ceil(front.limits.headersTimeoutMs / 2)),
      ...bornAs(app),
    };
    this.#server = this.#prepared(createServer(settings, app as RequestListener), app);
    if (options.tls) {
      const context = {
        ...readCertificate(options.tls),
        handshakeTimeout: front.limits.headersTimeoutMs,
      };
      const server = this.#prepared(
        createTlsServer({ ...settings, ...context }, app as RequestListener),
        app,
      );
      this.#tls = {
        server,
        options: options.tls,
        forget: followCertificate(server, options.tls, options.log),
      };
    }
  }

  #prepared<S extends Server | TlsServer>(server: S, app: Express): S {
    limitConnections(server, this.#front);
    answerMalformed(server);
    // An unknown expectation is no reason for an answer without a body.
    server.on('checkExpectation', app);
    server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) =>
      serveUpgrade(this.#front, req, socket, head),
    );
    return server;
  }

  get listening(): boolean {
    return this.#server.listening || this.#tls?.server.listening === true;
  }

  /** Requests that are not answered yet, streams and sockets among them. */
  get open(): number {
    return this.#front.open;
  }

  /** Resolves with the port that was bound, once it also listens with TLS where it is to. */
  async listen(host: string, port: number): Promise<number> {
    if (this.#tls) {
      await listenOn(
        this.#tls.server,
        this.#tls.options.host,
        this.#tls.options.port,
        'SVC_TLS_ADDR',
      );
    }
    return await listenOn(this.#server, host, port, 'SVC_HTTP_ADDR');
  }

  /** Port for TLS. */
  get tlsPort(): number | undefined {
    return (this.#tls?.server.address() as { port: number } | null | undefined)?.port;
  }

  /** Ends all streams and sockets at once. */
  cut(): void {
    this.#front.longAnswers.forEach((answer) => answer.terminate());
  }

  /** Serves what arrives on a connection that somebody else has accepted. */
  take(connection: Duplex): void {
    this.#server.emit('connection', connection);
  }

  /**
   * Stops accepting connections, tells streams and sockets to come back later, and lets requests
   * finish for `graceMs`.
   */
  async close(graceMs: number): Promise<void> {
    const front = this.#front;
    const servers = [this.#server, ...(this.#tls ? [this.#tls.server] : [])];
    this.#tls?.forget();
    if (front.closing) {
      throw errors.closed_twice();
    }
    front.closing = true;
    // Not the HTTP server's own close: it would cut connections on which a request is just arriving.
    const ended = Promise.all(
      servers.map(
        (server) =>
          new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve())),
      ),
    );
    front.longAnswers.forEach((answer) => answer.stop());
    let quiet = 0;
    const sweep = setInterval(() => {
      quiet = front.open === 0 ? quiet + 1 : 0;
      if (quiet >= 3) {
        servers.forEach((server) => server.closeIdleConnections());
        closeSilent(front);
      }
    }, quietMs / 3);
    const deadline = setTimeout(() => {
      servers.forEach((server) => server.closeAllConnections());
      front.longAnswers.forEach((answer) => answer.terminate());
    }, graceMs);
    await ended;
    clearInterval(sweep);
    clearTimeout(deadline);
  }
}

/** Resolves with the port that was bound; `setting`: what says where. */
function listenOn(
  server: Server | TlsServer,
  host: string,
  port: number,
  setting: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void =>
      reject(listenFailure(error, `${host}:${port}`, setting));
    server.once('error', failed);
    server.listen({ host, port, backlog }, () => {
      server.off('error', failed);
      resolve((server.address() as { port: number }).port);
    });
  });
}

function listenFailure(cause: NodeJS.ErrnoException, place: string, setting: string): SvcError {
  switch (cause.code) {
    case 'EADDRINUSE':
      return errors.address_taken({ place, setting }, { cause });
    case 'EACCES':
      return errors.address_forbidden({ place, setting }, { cause });
    default:
      return errors.listen_failed({ place, cause: messageOf(cause), setting }, { cause });
  }
}

/**
 * Takes an upgrade through the stages of every request, on a response made for it: until it is granted, every answer is plain HTTP.
 * Other protocols than WebSocket are not switched to; their requests are answered as if they had not asked.
 */
function serveUpgrade(front: Front, req: IncomingMessage, socket: Duplex, head: Buffer): void {
  // Node no longer listens on an upgraded connection; 'close' follows and is what the rest of the
  // code waits for.
  socket.on('error', () => socket.destroy());
  if (socket.writableEnded || isHeld(front, req, socket)) {
    return;
  }
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(req.socket);
  res.once('finish', () => socket.end());
  if (front.gate?.(req, res)) {
    return;
  }
  const offered =
    req.headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim()) ?? [];
  const isWebSocket = req.headers.upgrade?.toLowerCase() === 'websocket';
  const requestId = requestIdOf(req.headers['x-request-id'], front.ids);
  void serve(
    new Exchange(front, req, res, requestId, { socket, head, isWebSocket, protocols: offered }),
  );
}

type Constructor = (this: object, ...input: unknown[]) => void;

/**
 * Requests and responses are born with Express's prototypes: given on each request, as Express would, they cost more on Node 20 than
 * all the rest of the pipeline. The constructors are called on `this` because going through Reflect.construct is slower still.
 */
function bornAs(app: Express): ServerOptions {
  function Request(this: object, socket: unknown): void {
    (IncomingMessage as unknown as Constructor).call(this, socket);
  }
  Request.prototype = app.request;
  function Response(this: object, request: unknown, settings: unknown): void {
    (ServerResponse as unknown as Constructor).call(this, request, settings);
  }
  Response.prototype = app.response;
  return { IncomingMessage: Request, ServerResponse: Response } as unknown as ServerOptions;
}

const saneRequestId = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id when it is fit for logs and headers, else a new one. */
function requestIdOf(header: string | string[] | undefined, ids: Ids): string {
  return typeof header === 'string' && saneRequestId.test(header) ? header : ids.uuid();
}
