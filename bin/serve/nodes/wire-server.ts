import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { isIP } from 'node:net';

import { type Logger, messageOf } from '../../../core/sdk/index.ts';
import { errors } from './errors.ts';
import { type WireKeys, wireTls } from './wire-keys.ts';
import { WireSocket } from './wire-socket.ts';

/** Streams of one node at a time, each a request of a client of it. */
const maxStreams = 8_192;
const maxNodes = 64;
const windowBytes = 8 * 1024 * 1024;

/** Answers a question of another node; returns false if it does not know the path. */
export type WireAnswer = (path: string, stream: ServerHttp2Stream) => boolean;

interface WireServerOptions {
  /** Address to listen at, where the other nodes reach it. */
  readonly place: string;
  readonly keys: WireKeys;
  readonly log: Logger;
  /** Takes a connection of a client of another node; undefined while there is no house. */
  readonly take: () => ((connection: WireSocket) => void) | undefined;
  readonly answers: readonly WireAnswer[];
  readonly joins: {
    keyOf(id: string): Buffer | null;
    /** Answers who has proved to know the token of that id. */
    answer(id: string, stream: ServerHttp2Stream): void;
  };
}

/** Id of the token by which a connection was opened, on its socket. */
const joining = Symbol('token of a node that joins');
interface Joining {
  [joining]?: string;
}

/**
 * Address at which other nodes reach this one. CONNECT opens a connection of one of their clients to the house, on which
 * HTTP/1.1 is spoken; GET asks what only nodes may know.
 */
export class WireServer {
  readonly #options: WireServerOptions;
  readonly #server: Http2SecureServer;
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(options: WireServerOptions) {
    this.#options = options;
    this.#server = createSecureServer({
      ...wireTls,
      pskCallback: (socket: Joining, identity: string) => this.#keyOf(socket, identity),
      handshakeTimeout: 5_000,
      settings: { initialWindowSize: 1024 * 1024, maxConcurrentStreams: maxStreams },
    } as object);
    this.#server.maxConnections = maxNodes;
    this.#server.on('session', (session) => {
      session.setLocalWindowSize(windowBytes);
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', () => session.destroy());
    });
    this.#server.on('stream', (stream, headers) => this.#serve(stream, headers));
  }

  async listen(): Promise<void> {
    const { hostname, port } = new URL(`https://${this.#options.place}`);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause) =>
        reject(errors.no_wire({ place: this.#options.place, cause: messageOf(cause) }, { cause })),
      );
      this.#server.listen(Number(port || 443), hostname.replace(/^\[|\]$/g, ''), resolve);
    });
  }

  close(): void {
    this.#server.close();
    this.#sessions.forEach((session) => session.destroy());
  }

  /** Ends what clients of other nodes have open here: the house is another one now. */
  cut(): void {
    this.#sessions.forEach((session) => session.destroy());
  }

  #keyOf(socket: Joining, identity: string): Buffer | null {
    const { keys, log, joins } = this.#options;
    const [, token] = /^join\.([\w-]{1,64})$/.exec(identity) ?? [];
    if (token !== undefined) {
      socket[joining] = token;
      return joins.keyOf(token);
    }
    try {
      const key = keys.of(identity);
      if (key === null) {
        log.warn(
          { event: 'node.stranger', identity: identity.slice(0, 64) },
          'refused a connection from a node with another secret key: it has to join again',
        );
      }
      return key;
    } catch (error) {
      log.error(
        { event: 'node.no_keys', cause: messageOf(error) },
        `failed to read the secret key: ${messageOf(error)}`,
      );
      return null;
    }
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', () => stream.destroy());
    const token = (stream.session?.socket as Joining | undefined)?.[joining];
    if (token !== undefined) {
      this.#options.joins.answer(token, stream);
      return;
    }
    if (headers[':method'] !== 'CONNECT') {
      const path = headers[':path'] ?? '';
      if (!this.#options.answers.some((answer) => answer(path, stream))) {
        stream.respond({ ':status': 404 }, { endStream: true });
      }
      return;
    }
    const take = this.#options.take();
    const address = String(headers['client'] ?? '');
    if (take === undefined || isIP(address) === 0) {
      stream.respond({ ':status': 503 }, { endStream: true });
      return;
    }
    stream.respond({ ':status': 200 });
    take(new WireSocket(stream, { address, isSecure: headers['secure'] === '1' }));
  }
}

export function answerWire(stream: ServerHttp2Stream, body: object): void {
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end(JSON.stringify(body));
}
