import { type ClientRequest, type IncomingMessage, request, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';

import { OperatorAuthenticator } from '../../../core/auth/index.ts';
import { messageOf } from '../../../core/sdk/index.ts';
import type { OwnerLine } from './owner-line.ts';
import { refuse } from './refusal.ts';
import { WireSocket } from './wire-socket.ts';

/** Time for which a request waits for an owner: a take-over fits in. */
const patienceMs = 20_000;
const lookEveryMs = 100;
const maxWaiting = 1_024;
/** The longest upload may take as long. */
const firstByteMs = 600_000;

/** Headers of one connection, which is another one behind this node. */
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'expect']);

interface ForwardOptions {
  readonly line: OwnerLine;
  /** Token of the operator in the data folder of this node. */
  readonly operator: string;
  /** True while clients should find another connection for their next request. */
  readonly isLeaving: () => boolean;
}

/** Forwards requests, streams and upgrades to the owner of the data. Nothing is sent twice. */
export class Forward {
  readonly #options: ForwardOptions;
  readonly #operator: OperatorAuthenticator;
  #waiting = 0;

  constructor(options: ForwardOptions) {
    this.#options = options;
    this.#operator = new OperatorAuthenticator(options.operator);
  }

  async request(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const connection = await this.#reach(req, res);
    if (connection === undefined) {
      return;
    }
    const outgoing = this.#outgoing(req, connection, ['Connection', 'close']);
    this.#answer(outgoing, req, res);
    req.pipe(outgoing);
  }

  async upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(req.socket);
    res.once('finish', () => socket.end());
    // Agents come by hundreds and are told when to come back: those that wait here would cost the take-over its time.
    const connection = await this.#reach(req, res, 0);
    if (connection === undefined) {
      return;
    }
    const outgoing = this.#outgoing(req, connection, ['Connection', 'Upgrade']);
    this.#answer(outgoing, req, res);
    outgoing.once('upgrade', (incoming, tunnel, first) => {
      res.detachSocket(req.socket);
      const lines = pairs(incoming.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 101 ${incoming.statusMessage}\r\n${lines.join('')}\r\n`);
      join(socket, tunnel);
      socket.write(first);
      tunnel.write(head);
    });
    outgoing.end();
  }

  /** Opens a connection to the owner, or answers why there is none. */
  async #reach(
    req: IncomingMessage,
    res: ServerResponse,
    waitMs = patienceMs,
  ): Promise<Duplex | undefined> {
    const { line } = this.#options;
    const caller = {
      address: (req.socket.remoteAddress ?? '').replace(/^::ffff:(?=[\d.]+$)/, ''),
      isSecure: (req.socket as Partial<TLSSocket>).encrypted === true,
    };
    if (!line.isPossible) {
      refuse(req, res, 'This node stands by, and the owner of the data has no node.addr.');
      return undefined;
    }
    if (this.#waiting >= maxWaiting) {
      refuse(req, res, 'Too many requests are waiting for the owner of the data.');
      return undefined;
    }
    this.#waiting += 1;
    try {
      for (const since = performance.now(); ; await pause(lookEveryMs)) {
        try {
          return await line.open(caller);
        } catch (error) {
          if (res.destroyed || req.socket.destroyed) {
            return undefined;
          }
          if (performance.now() - since > waitMs) {
            refuse(req, res, messageOf(error));
            return undefined;
          }
        }
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  #outgoing(req: IncomingMessage, connection: Duplex, own: readonly string[]): ClientRequest {
    const headers = pairs(req.rawHeaders).filter(([name]) => !ofConnection.has(name.toLowerCase()));
    return request({
      method: req.method,
      path: req.url,
      headers: [...headers.flatMap((pair) => this.#withOperator(pair)), ...own] as never,
      setHost: false,
      createConnection: () => new WireSocket(connection),
    });
  }

  /** The operator of this machine is that of the owner's. */
  #withOperator([name, value]: readonly [string, string]): readonly string[] {
    const [, scheme = '', token = ''] = /^(bearer) (\S+)$/i.exec(value) ?? [];
    const isOperator =
      name.toLowerCase() === 'authorization' &&
      this.#operator.authenticate({ scheme: scheme.toLowerCase(), value: token } as never) !==
        undefined;
    return [name, isOperator ? `Bearer ${this.#options.line.operator}` : value];
  }

  /** Hands the answer on, or says why there is none. */
  #answer(outgoing: ClientRequest, req: IncomingMessage, res: ServerResponse): void {
    const late = setTimeout(() => outgoing.destroy(new Error('no answer in time')), firstByteMs);
    res.once('close', () => outgoing.destroy());
    outgoing.once('close', () => clearTimeout(late));
    outgoing.once('error', (error) => {
      if (res.headersSent) {
        res.destroy();
      } else if (!res.destroyed) {
        refuse(
          req,
          res,
          `The owner of the data went away before it answered (${messageOf(error)}): check whether a change was made before you repeat it.`,
        );
      }
    });
    outgoing.once('response', (incoming) => {
      clearTimeout(late);
      const kept = pairs(incoming.rawHeaders).filter(
        ([name]) => !ofConnection.has(name.toLowerCase()),
      );
      res.shouldKeepAlive &&= !this.#options.isLeaving();
      res.writeHead(incoming.statusCode!, incoming.statusMessage, kept.flat());
      res.flushHeaders();
      incoming.once('error', () => res.destroy());
      incoming.once('aborted', () => res.destroy());
      incoming.pipe(res);
    });
  }
}

const pairs = (raw: readonly string[]): (readonly [string, string])[] =>
  Array.from({ length: raw.length / 2 }, (_, at) => [raw[at * 2]!, raw[at * 2 + 1]!] as const);

/** Lets two connections be one, and end together. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
    from.pipe(to);
  }
}
