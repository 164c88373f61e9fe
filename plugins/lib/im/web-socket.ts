import { isIP, type LookupFunction } from 'node:net';

import { messageOf } from 'svc/sdk';
import { WebSocket } from 'ws';

import { errors } from './errors.ts';

export interface DialPorts {
  /** Returns the checked address of a host, which is then connected to. */
  readonly addressOf: (host: string) => Promise<string>;
  /** Calls `tick` again and again until it is undone. */
  readonly every: (ms: number, tick: () => void) => () => unknown;
}

/** Messages of a WebSocket, one after the other. */
export interface DialledSocket {
  send(data: string | Uint8Array): void;
  next(): Promise<string | Uint8Array | undefined>;
  close(): void;
}

const maxMessageBytes = 2 * 1024 * 1024;
const maxWaiting = 1_000;
const handshakeMs = 15_000;
const pingEveryMs = 20_000;

/** Dials a WebSocket at an address that is checked like that of any other request. */
export async function dialSocket(
  ports: DialPorts,
  url: string,
  signal: AbortSignal,
): Promise<DialledSocket> {
  const target = new URL(url.replace(/^http/, 'ws'));
  // A literal address is never looked up by the socket, so it is checked here like a name.
  const address = await ports.addressOf(target.hostname.replace(/^\[|\]$/g, ''));
  signal.throwIfAborted();
  const socket = new WebSocket(target, {
    lookup: fixedLookup(address),
    maxPayload: maxMessageBytes,
    handshakeTimeout: handshakeMs,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const dialled = new Dialled(socket, ports, signal);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response) => {
      response.destroy();
      reject(errors.no_socket({ host: target.host, answer: String(response.statusCode) }));
      dialled.close();
    });
    socket.once('error', (error) =>
      reject(
        signal.aborted
          ? errors.dial_stopped({ host: target.host }, { cause: error })
          : errors.dial_failed({ host: target.host, cause: messageOf(error) }, { cause: error }),
      ),
    );
  });
  return dialled;
}

const fixedLookup =
  (address: string): LookupFunction =>
  (_host, { all }, done) =>
    all === true
      ? done(null, [{ address, family: isIP(address) }])
      : done(null, address, isIP(address));

/**
 * Connection whose messages are taken one by one; a peer that is silent, or sends faster than it is
 * read, is disconnected.
 */
class Dialled implements DialledSocket {
  readonly #socket: WebSocket;
  readonly #ready: (string | Uint8Array)[] = [];
  #waiting: ((message: string | Uint8Array | undefined) => void) | undefined;
  #closed = false;
  #heard = true;

  constructor(socket: WebSocket, { every }: DialPorts, signal: AbortSignal) {
    this.#socket = socket;
    const stopPings = every(pingEveryMs, () => this.#ping());
    const stop = (): void => this.close();
    signal.addEventListener('abort', stop, { once: true });
    const alive = (): void => void (this.#heard = true);
    socket.on('pong', alive);
    socket.on('ping', alive);
    socket.on('message', (data: Buffer, isBinary) => {
      this.#heard = true;
      this.#hand(isBinary ? data : data.toString('utf8'));
    });
    // An error on an open connection ends it, and 'close' reports that.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      signal.removeEventListener('abort', stop);
      void stopPings();
      this.#closed = true;
      this.#waiting?.(undefined);
      this.#waiting = undefined;
    });
  }

  send(data: string | Uint8Array): void {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(data);
    }
  }

  next(): Promise<string | Uint8Array | undefined> {
    const [first] = this.#ready.splice(0, 1);
    if (first !== undefined || this.#closed) {
      return Promise.resolve(first);
    }
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  close(): void {
    this.#closed = true;
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.close(1000);
    }
    this.#socket.terminate();
  }

  #hand(message: string | Uint8Array): void {
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting(message);
    } else if (this.#ready.push(message) > maxWaiting) {
      this.close();
    }
  }

  #ping(): void {
    if (!this.#heard) {
      this.close();
    } else if (this.#socket.readyState === WebSocket.OPEN) {
      this.#heard = false;
      this.#socket.ping();
    }
  }
}
