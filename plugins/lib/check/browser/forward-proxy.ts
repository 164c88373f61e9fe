import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Order, Place } from '../model/check.ts';
import { PlaceFault } from './place-fault.ts';

/** Connections of one browser at a time. */
const maxConnections = 256;
/** Hosts of which it is remembered why they could not be reached. */
const maxFailures = 100;

export interface ForwardProxyParts {
  readonly reach: Place['reach'];
  readonly ip: Order['ip'];
  /** Credential that the browser has to show, so that nobody else on the machine is served. */
  readonly credential: { readonly username: string; readonly password: string };
}

/**
 * Proxy through which a browser reaches the network, on a loopback port of its own: it connects only
 * to addresses that the place may talk to, and resolves names itself.
 */
export class ForwardProxy {
  readonly #parts: ForwardProxyParts;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #failures = new Map<string, unknown>();

  private constructor(parts: ForwardProxyParts) {
    this.#parts = parts;
    this.#server = createServer((asked, answer) => void this.#pass(asked, answer));
    this.#server.maxConnections = maxConnections;
    this.#server.on('connect', (asked: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#tunnel(asked, socket, head);
    });
    this.#server.on('connection', (socket) => this.#own(socket));
  }

  static async open(parts: ForwardProxyParts): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(parts);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  /** Returns why a `host:port` could not be reached; undefined if nothing is known against it. */
  failureOf(authority: string): unknown {
    return this.#failures.get(authority);
  }

  /** Returns the first refusal of the place; undefined if it has refused nothing. */
  get refusal(): PlaceFault | undefined {
    return [...this.#failures.values()].find((failure) => failure instanceof PlaceFault);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  /** Passes a request on whose URL is whole, as HTTP without TLS goes through a proxy. */
  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { url: text = '', method } = asked;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!this.#isKnown(asked)) {
      answer.writeHead(407, challenge).end();
      return;
    }
    if (url?.protocol !== 'http:') {
      answer.writeHead(400).end();
      return;
    }
    const socket = await this.#dial(url.hostname, Number(url.port || 80));
    if (socket === undefined) {
      // Without an answer: one of ours would be taken for that of the server.
      asked.socket.destroy();
      return;
    }
    const outgoing = request({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headersFor(asked), host: url.host, connection: 'close' },
      createConnection: () => socket,
    });
    const stop = (): void => {
      socket.destroy();
      asked.socket.destroy();
    };
    outgoing.once('error', stop);
    outgoing.once('response', (incoming) => {
      answer.writeHead(incoming.statusCode ?? 502, incoming.rawHeaders);
      incoming.once('error', stop).pipe(answer);
    });
    answer.once('close', () => socket.destroy());
    asked.once('error', stop).pipe(outgoing);
  }

  async #tunnel(asked: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const [, host, port] = /^(.+):(\d{1,5})$/.exec(asked.url ?? '') ?? [];
    if (!this.#isKnown(asked)) {
      socket.end(`HTTP/1.1 407 Proxy Authentication Required\r\n${challengeText}\r\n\r\n`);
      return;
    }
    const far = host === undefined ? undefined : await this.#dial(host, Number(port));
    if (far === undefined) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    socket.once('close', () => far.destroy());
    far.once('close', () => socket.destroy());
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    far.write(head);
    far.pipe(socket).pipe(far);
  }

  /** Connects to an address that was checked, and remembers why if it cannot. */
  async #dial(named: string, port: number): Promise<Socket | undefined> {
    const host = named.replaceAll(/^\[|\]$/g, '');
    try {
      const { address, family } = await this.#parts.reach(host, port, this.#parts.ip);
      const socket = connect({ host: address, port, family });
      this.#own(socket);
      await new Promise((resolve, reject) => {
        socket.on('error', reject);
        socket.once('close', () => reject(new Error('the browser has gone')));
        socket.once('connect', resolve);
      });
      return socket;
    } catch (error) {
      if (this.#failures.size < maxFailures) {
        this.#failures.set(`${host}:${port}`, error);
      }
      return undefined;
    }
  }

  #own(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #isKnown({ headers }: IncomingMessage): boolean {
    const { username, password } = this.#parts.credential;
    const wanted = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return headers['proxy-authorization'] === wanted;
  }
}

const challenge = { 'proxy-authenticate': 'Basic realm="svc"' } as const;
const challengeText = 'proxy-authenticate: Basic realm="svc"\r\ncontent-length: 0';

/** Headers that are for the server, and not for a proxy on the way. */
const headersFor = ({ headers }: IncomingMessage): IncomingMessage['headers'] =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !/^(?:proxy-.*|connection|keep-alive|te|trailer|upgrade)$/.test(name),
    ),
  );
