import type { Socket } from 'node:net';

import type { Browser } from '../browser/chromium.ts';
import type { CertificateFacts, Facts, Order, Place } from '../model/check.ts';
import type { Endpoint } from '../model/kinds.ts';
import { dial, secureTrusted } from './dial.ts';
import type { Stopwatch } from './stopwatch.ts';

/** Bytes that a server may send before it is understood. */
const maxHeard = 64 * 1024;

/** Means of one probe. */
export interface Means {
  readonly order: Order;
  readonly place: Place;
  readonly watch: Stopwatch;
  readonly signal: AbortSignal;
  /** Browser that was started for this probe; undefined for other kinds. */
  readonly browser: Browser | undefined;
}

/** A connection on which both sides speak in turn. */
export class Conversation {
  readonly #means: Means;
  readonly #host: string;
  readonly #address: string;
  #socket: Socket;
  #heard = Buffer.alloc(0);
  #certificate: CertificateFacts | undefined;

  private constructor(means: Means, host: string, address: string, socket: Socket) {
    this.#means = means;
    this.#host = host;
    this.#address = address;
    this.#socket = socket;
  }

  /** Connects to an endpoint, with TLS at once where its scheme says so. */
  static async open(means: Means, { host, port, isSecure }: Endpoint): Promise<Conversation> {
    const { order, place, watch, signal } = means;
    const address = await place.reach(host, port, order.ip);
    watch.end('resolve');
    const socket = await dial(address, port, watch, signal);
    const conversation = new Conversation(means, host, address.address, socket);
    if (isSecure) {
      await conversation.secure();
    }
    return conversation;
  }

  /** Goes on with a connection on which another protocol has been spoken. */
  static resume(
    means: Means,
    { socket, head }: { readonly socket: Socket; readonly head: Buffer },
  ): Conversation {
    const conversation = new Conversation(means, '', socket.remoteAddress ?? '', socket);
    conversation.#heard = Buffer.from(head);
    return conversation;
  }

  /** Facts about the connection. */
  get facts(): Partial<Facts> {
    return {
      address: this.#address,
      ...(this.#certificate !== undefined && { certificate: this.#certificate }),
    };
  }

  get isSecure(): boolean {
    return this.#certificate !== undefined;
  }

  /** Begins TLS on the open connection. */
  async secure(): Promise<void> {
    // Sent before TLS, it would be taken for what the server says under it.
    if (this.#heard.length > 0 || this.#socket.readableLength > 0) {
      throw new Error('the server sends more before TLS than was asked of it');
    }
    const { order, watch, signal } = this.#means;
    try {
      const { socket, certificate } = await secureTrusted(
        this.#socket,
        this.#host,
        order,
        watch,
        signal,
      );
      this.#socket = socket;
      this.#certificate = certificate;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  say(bytes: Uint8Array | string): void {
    this.#socket.write(bytes);
  }

  /** Returns the next bytes, exactly as many. */
  async take(length: number): Promise<Buffer> {
    if (length > maxHeard) {
      throw new Error(`the server announces ${length} bytes, more than a check reads`);
    }
    while (this.#heard.length < length) {
      await this.#more();
    }
    const taken = this.#heard.subarray(0, length);
    this.#heard = this.#heard.subarray(length);
    return taken;
  }

  /** Returns the next line, without its end. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#heard.indexOf(10);
      if (end !== -1) {
        return (await this.take(end + 1)).toString('utf8').replace(/\r?\n$/, '');
      }
      if (this.#heard.length >= maxHeard) {
        throw new Error('the server sends a line without an end');
      }
      await this.#more();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #more(): Promise<void> {
    for (;;) {
      const piece = this.#socket.read() as Buffer | null;
      if (piece !== null) {
        this.#heard = Buffer.concat([this.#heard, piece]);
        return;
      }
      if (this.#socket.destroyed || this.#socket.readableEnded) {
        throw this.#socket.errored ?? new Error('the server closed the connection');
      }
      await changeOf(this.#socket);
    }
  }
}

/** Resolves when there is more to read, or never will be. */
function changeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'close'] as const;
    const done = (): void => {
      events.forEach((event) => socket.off(event, done));
      resolve();
    };
    events.forEach((event) => socket.on(event, done));
  });
}

/** Holds one conversation, and closes it. */
export async function conversing<T>(
  means: Means,
  endpoint: Endpoint,
  hold: (conversation: Conversation) => Promise<T>,
): Promise<T> {
  const conversation = await Conversation.open(means, endpoint);
  try {
    return await hold(conversation);
  } finally {
    conversation.close();
  }
}
