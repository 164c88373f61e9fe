import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';

import { type OutboundReply, type OutboundRequest, SvcError } from 'svc/sdk';

export interface DialPorts {
  readonly fetch: (url: string, request?: OutboundRequest) => Promise<OutboundReply>;
  /** URL-safe text of so many random bytes. */
  readonly token: (bytes: number) => string;
  /** Calls `tick` again and again until it is undone. */
  readonly every: (ms: number, tick: () => void) => () => unknown;
}

/** Messages of a WebSocket, one after the other. */
export interface DialledSocket {
  send(data: string | Uint8Array): void;
  next(): Promise<string | Uint8Array | undefined>;
  close(): void;
}

const mostMessage = 2 * 1024 * 1024;
const mostWaiting = 1_000;
const pingEveryMs = 20_000;
const salt = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const op = { more: 0, text: 1, bytes: 2, close: 8, ping: 9, pong: 10 } as const;

/** Dials a WebSocket by the safe fetch: the address is checked like that of any other request. */
export async function dialSocket(
  ports: DialPorts,
  url: string,
  signal: AbortSignal,
): Promise<DialledSocket> {
  const key = Buffer.from(ports.token(16), 'base64url').toString('base64');
  let taken: ClientSocket | undefined;
  const reply = await ports.fetch(url.replace(/^ws/, 'http'), {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
    },
    timeoutMs: 15_000,
    signal,
    onUpgrade: (connection, first) => {
      taken = new ClientSocket(connection as Duplex, ports);
      taken.feed(first);
    },
  });
  const isOurs =
    reply.headers['sec-websocket-accept'] ===
    createHash('sha1')
      .update(key + salt)
      .digest('base64');
  if (taken === undefined || !isOurs) {
    taken?.close();
    throw new SvcError(
      'upstream_error',
      `${new URL(url).host} answered ${reply.status} and no WebSocket`,
      { reason: 'im.no_socket' },
    );
  }
  const socket = taken;
  const stop = (): void => socket.close();
  signal.addEventListener('abort', stop, { once: true });
  socket.onEnd(() => signal.removeEventListener('abort', stop));
  return socket;
}

/** The client's side of one connection: what it sends is masked, what it gets is bounded, and silence ends it. */
class ClientSocket implements DialledSocket {
  readonly #connection: Duplex;
  readonly #ports: DialPorts;
  readonly #stopPings: () => unknown;
  readonly #ready: (string | Uint8Array)[] = [];
  #waiting: ((message: string | Uint8Array | undefined) => void) | undefined;
  #bytes = Buffer.alloc(0);
  #parts: { readonly opcode: number; readonly pieces: Buffer[]; size: number } | undefined;
  #closed = false;
  #ended = (): void => undefined;
  #heard = true;

  constructor(connection: Duplex, ports: DialPorts) {
    this.#connection = connection;
    this.#ports = ports;
    this.#stopPings = ports.every(pingEveryMs, () => this.#ping());
    connection.on('data', (chunk: Buffer) => this.feed(chunk));
    connection.on('error', () => this.close());
    connection.on('close', () => this.close());
    connection.on('end', () => this.close());
  }

  send(data: string | Uint8Array): void {
    this.#frame(typeof data === 'string' ? op.text : op.bytes, Buffer.from(data as string));
  }

  next(): Promise<string | Uint8Array | undefined> {
    const [first] = this.#ready.splice(0, 1);
    if (first !== undefined || this.#closed) {
      return Promise.resolve(first);
    }
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  onEnd(ended: () => void): void {
    this.#ended = ended;
  }

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#frame(op.close, Buffer.from([3, 232]));
    this.#closed = true;
    void this.#stopPings();
    this.#connection.destroy();
    this.#ended();
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }

  /** Bytes as they come; anything that is no frame of a server ends it. */
  feed(chunk: Uint8Array): void {
    this.#heard = true;
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (let isWhole = true; isWhole && !this.#closed;) {
      isWhole = this.#read();
    }
  }

  #read(): boolean {
    const bytes = this.#bytes;
    if (bytes.length < 2) {
      return false;
    }
    const [first, second] = [bytes[0]!, bytes[1]!];
    const short = second & 0x7f;
    const head = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (bytes.length < head) {
      return false;
    }
    const length =
      short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short === 126
          ? bytes.readUInt16BE(2)
          : short;
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0 || length > mostMessage) {
      this.close();
      return false;
    }
    if (bytes.length < head + length) {
      return false;
    }
    this.#bytes = bytes.subarray(head + length);
    this.#take(
      first & 0x0f,
      (first & 0x80) !== 0,
      Buffer.from(bytes.subarray(head, head + length)),
    );
    return true;
  }

  #take(opcode: number, isLast: boolean, piece: Buffer): void {
    if (opcode === op.ping) {
      this.#frame(op.pong, piece.subarray(0, 125));
      return;
    }
    if (opcode === op.pong) {
      return;
    }
    const parts =
      opcode === op.more
        ? this.#parts
        : this.#parts === undefined
          ? { opcode, pieces: [], size: 0 }
          : undefined;
    if (
      parts === undefined ||
      (parts.opcode !== op.text && parts.opcode !== op.bytes) ||
      parts.size + piece.length > mostMessage
    ) {
      this.close();
      return;
    }
    parts.pieces.push(piece);
    parts.size += piece.length;
    this.#parts = isLast ? undefined : parts;
    if (isLast) {
      const whole = Buffer.concat(parts.pieces);
      this.#hand(parts.opcode === op.text ? whole.toString('utf8') : whole);
    }
  }

  /** A peer that sends faster than it is dealt with is let go, and sends again later. */
  #hand(message: string | Uint8Array): void {
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting(message);
    } else if (this.#ready.push(message) > mostWaiting) {
      this.close();
    }
  }

  #ping(): void {
    if (!this.#heard) {
      this.close();
      return;
    }
    this.#heard = false;
    this.#frame(op.ping, Buffer.alloc(0));
  }

  #frame(opcode: number, payload: Buffer): void {
    if (this.#closed || this.#connection.destroyed) {
      return;
    }
    const mask = Buffer.from(this.#ports.token(4), 'base64url');
    const length =
      payload.length < 126 ? Buffer.from([0x80 | payload.length]) : longLength(payload.length);
    const masked = Buffer.from(payload.map((byte, at) => byte ^ mask[at & 3]!));
    this.#connection.write(Buffer.concat([Buffer.from([0x80 | opcode]), length, mask, masked]));
  }
}

function longLength(length: number): Buffer {
  const bytes = Buffer.alloc(length < 65_536 ? 3 : 9);
  bytes[0] = 0x80 | (length < 65_536 ? 126 : 127);
  if (length < 65_536) {
    bytes.writeUInt16BE(length, 1);
  } else {
    bytes.writeBigUInt64BE(BigInt(length), 1);
  }
  return bytes;
}
