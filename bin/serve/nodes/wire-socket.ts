import { Duplex } from 'node:stream';

interface Peer {
  readonly address: string;
  readonly isSecure: boolean;
}

/**
 * Stream between nodes as a socket, as far as servers and clients of HTTP know one. At the owner it has the address of the client that
 * is connected to the other node, which nothing that the client sends can change.
 */
export class WireSocket extends Duplex {
  readonly remoteAddress: string;
  readonly remoteFamily: string;
  readonly remotePort = 0;
  readonly encrypted: boolean;
  readonly #stream: Duplex;
  bytesRead = 0;

  constructor(stream: Duplex, { address, isSecure }: Peer = { address: '', isSecure: false }) {
    super({ allowHalfOpen: true });
    this.remoteAddress = address;
    this.remoteFamily = address.includes(':') ? 'IPv6' : 'IPv4';
    this.encrypted = isSecure;
    this.#stream = stream;
    stream.on('data', (part: Buffer) => {
      this.bytesRead += part.length;
      if (!this.push(part)) {
        stream.pause();
      }
    });
    stream.once('end', () => this.push(null));
    stream.once('error', (error) => this.destroy(error));
    stream.once('close', () => this.destroy());
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(
    part: Buffer,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.#stream.write(part, encoding, done);
  }

  override _final(done: () => void): void {
    this.#stream.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream.destroy();
    done(error);
  }

  destroySoon(): void {
    if (this.writable) {
      this.end();
    }
    if (this.writableFinished) {
      this.destroy();
    } else {
      this.once('finish', () => this.destroy());
    }
  }

  /** Whoever has the client's connection has its deadlines. */
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
