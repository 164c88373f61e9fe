import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';

import express, { type Express } from 'express';

import { type Ids, messageOf, SvcError } from '../../sdk/index.ts';
import { answerMalformed, closeSilent, limitConnections } from './connections.ts';
import { serve } from '../pipeline/dispatch.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { type Front, openFront } from './front.ts';
import type { HttpOptions } from '../ports.ts';

const headerBytes = 16 * 1024;
/** Longer than proxies keep theirs, so that it is never we who close under a request that is on its way. */
const idleMs = 75_000;
/** How long a connection must be quiet before a closing server ends it. */
const quietMs = 150;
/** Connections that wait to be accepted: a fleet comes back in one moment, and a client that does not fit tries again after seconds. */
const backlog = 4_096;

/** The one server of the process; what it serves is whatever the registry's snapshot says at the moment. */
export class HttpServer {
  readonly #front: Front;
  readonly #server: Server;

  constructor(options: HttpOptions) {
    const front = openFront(options);
    const app = express().disable('x-powered-by').disable('etag').set('query parser', 'simple');
    app.use((req, res) => void serve(new Exchange(front, req, res, requestIdOf(req.headers['x-request-id'], front.ids))));
    this.#front = front;
    this.#server = createExpressServer(app, {
      maxHeaderSize: headerBytes,
      insecureHTTPParser: false,
      // Asked for in the pipeline, where the answer gets a body.
      requireHostHeader: false,
      keepAliveTimeout: idleMs,
      headersTimeout: front.limits.headersTimeoutMs,
      // Node knows one limit for all routes; the shorter one of ordinary routes is kept where bodies are read.
      requestTimeout: front.limits.uploadTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, Math.ceil(front.limits.headersTimeoutMs / 2)),
    });
    limitConnections(this.#server, front);
    answerMalformed(this.#server);
    // An unknown expectation is no reason for an answer without a body.
    this.#server.on('checkExpectation', app);
    this.#server.on('upgrade', (req, socket, head) => serveUpgrade(front, req, socket, head));
  }

  get listening(): boolean {
    return this.#server.listening;
  }

  /** Requests that are not answered yet, streams and sockets among them. */
  get open(): number {
    return this.#front.open;
  }

  /** Resolves with the port that was bound. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void =>
        reject(new SvcError('unavailable', listenFailure(error, host, port), { reason: 'http.listen_failed', cause: error }));
      this.#server.once('error', failed);
      this.#server.listen({ host, port, backlog }, () => {
        this.#server.off('error', failed);
        resolve((this.#server.address() as { port: number }).port);
      });
    });
  }

  /** Takes no new connection, tells streams and sockets to come back later, and lets requests finish for `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const [server, front] = [this.#server, this.#front];
    if (front.closing) {
      throw new SvcError('conflict', 'the server is closing already', { reason: 'http.closed_twice' });
    }
    front.closing = true;
    const ended = new Promise<void>((resolve) => {
      // Not the HTTP server's own close: it would cut connections on which a request is just arriving.
      NetServer.prototype.close.call(server, () => resolve());
    });
    front.longAnswers.forEach((answer) => answer.stop());
    let quiet = 0;
    const sweep = setInterval(() => {
      quiet = front.open === 0 ? quiet + 1 : 0;
      if (quiet >= 3) {
        server.closeIdleConnections();
        closeSilent(front);
      }
    }, quietMs / 3);
    const deadline = setTimeout(() => {
      server.closeAllConnections();
      front.longAnswers.forEach((answer) => answer.terminate());
    }, graceMs);
    await ended;
    clearInterval(sweep);
    clearTimeout(deadline);
  }
}

function listenFailure(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `${host}:${port} is in use by another process; stop it or set SVC_HTTP_ADDR to a free address`;
    case 'EACCES':
      return `${host}:${port} may not be opened by this user; set SVC_HTTP_ADDR to a port above 1023`;
    default:
      return `${host}:${port} cannot be listened on (${messageOf(error)}); check SVC_HTTP_ADDR`;
  }
}

/**
 * Takes an upgrade through the same stages as every request, on a response made for the purpose: until
 * the upgrade is granted, every answer is plain HTTP. Other protocols than WebSocket are not switched
 * to; their requests are answered as if they had not asked.
 */
function serveUpgrade(front: Front, req: IncomingMessage, socket: Duplex, head: Buffer): void {
  // Node no longer listens on an upgraded connection; 'close' follows and is what the rest of the code waits for.
  socket.on('error', () => socket.destroy());
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(req.socket);
  res.once('finish', () => socket.end());
  const offered = req.headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim()) ?? [];
  const isWebSocket = req.headers.upgrade?.toLowerCase() === 'websocket';
  const requestId = requestIdOf(req.headers['x-request-id'], front.ids);
  void serve(new Exchange(front, req, res, requestId, { socket, head, isWebSocket, protocols: offered }));
}

type Constructor = (this: object, ...input: unknown[]) => void;

/**
 * A server whose requests and responses are born with Express's prototypes. Express would give them
 * these prototypes on each request, which costs more on Node 20 than all the rest of the pipeline. The
 * constructors are called on `this` because going through Reflect.construct is slower still.
 */
function createExpressServer(app: Express, options: ServerOptions): Server {
  function Request(this: object, socket: unknown): void {
    (IncomingMessage as unknown as Constructor).call(this, socket);
  }
  Request.prototype = app.request;
  function Response(this: object, request: unknown, settings: unknown): void {
    (ServerResponse as unknown as Constructor).call(this, request, settings);
  }
  Response.prototype = app.response;
  const born = { IncomingMessage: Request, ServerResponse: Response } as unknown as ServerOptions;
  // oxlint-disable-next-line typescript/no-misused-promises
  return createServer({ ...options, ...born }, app);
}

const saneRequestId = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id when it is fit for logs and headers, else a new one. */
function requestIdOf(header: string | string[] | undefined, ids: Ids): string {
  return typeof header === 'string' && saneRequestId.test(header) ? header : ids.uuid();
}
