import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';

import { type Logger, messageOf } from '../../../core/sdk/index.ts';
import { errors } from './errors.ts';
import type { Owner } from './lease.ts';
import { type WireKeys, wireTls } from './wire-keys.ts';

const connectMs = 3_000;
/** An owner that answers no ping for this long is given up, with all that goes through it. */
const silentMs = 5_000;
const pingEveryMs = 1_000;
/** The owner is asked again for what may have changed. */
const greetEveryMs = 10_000;
const answerBytes = 1024 * 1024;
const windowBytes = 8 * 1024 * 1024;

/** Client of this node, on whose behalf it calls. */
export interface Caller {
  readonly address: string;
  readonly isSecure: boolean;
}

interface OwnerLineOptions {
  /** Id of this node. */
  readonly node: string;
  readonly keys: WireKeys;
  readonly log: Logger;
  /** Keeps the secret keys of the owner, which a rotation changes. */
  readonly keep: (lines: readonly unknown[]) => void;
}

/** Connection to the owner of the data, which follows it from node to node. */
export class OwnerLine {
  readonly #options: OwnerLineOptions;
  #place = '';
  #epoch = 0;
  #session: ClientHttp2Session | undefined;
  #isUp = false;
  #operator = '';
  #greetedAt = -Infinity;
  #ping: NodeJS.Timeout | undefined;
  #trouble = 'it has not been called yet';

  constructor(options: OwnerLineOptions) {
    this.#options = options;
  }

  /** True if the owner answers and has a house. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** False if the owner has no address for other nodes. */
  get isPossible(): boolean {
    return this.#place !== '';
  }

  /** Token of the operator at the owner. */
  get operator(): string {
    return this.#operator;
  }

  get trouble(): string {
    return this.#trouble;
  }

  /** Calls the owner if that is another one than before, or does not answer. */
  follow({ wire, epoch, leftMs }: Owner): void {
    const isOther = wire !== this.#place || epoch !== this.#epoch;
    if (isOther) {
      this.close();
      [this.#place, this.#epoch] = [wire, epoch];
    }
    if (wire === '') {
      this.#trouble = 'it has no node.addr';
    } else if (this.#session === undefined && leftMs > 0) {
      this.#call();
    } else if (!this.#isUp || performance.now() - this.#greetedAt > greetEveryMs) {
      void this.#greet();
    }
  }

  close(): void {
    clearInterval(this.#ping);
    this.#isUp = false;
    const session = this.#session;
    this.#session = undefined;
    session?.destroy();
  }

  /** Opens a connection to the house of the owner. */
  async open({ address, isSecure }: Caller): Promise<Duplex> {
    if (!this.#isUp) {
      await this.#greet();
    }
    if (!this.#isUp) {
      throw errors.owner_away({ cause: this.#trouble }, { retryAfterSeconds: 1 });
    }
    const stream = this.#request({
      ':method': 'CONNECT',
      ':authority': 'house',
      client: address,
      secure: isSecure ? '1' : '0',
    });
    await answered(stream);
    return stream;
  }

  /** Asks the owner what only nodes may know; the answer is read by who asks. */
  async ask(path: string): Promise<ClientHttp2Stream> {
    const stream = this.#request({ ':method': 'GET', ':path': path });
    await answered(stream);
    return stream;
  }

  #request(headers: Record<string, string>): ClientHttp2Stream {
    const session = this.#session;
    if (session === undefined || session.closed || session.destroyed) {
      throw errors.owner_away({ cause: this.#trouble }, { retryAfterSeconds: 1 });
    }
    const stream = session.request(headers, { endStream: headers[':method'] === 'GET' });
    stream.on('error', () => stream.destroy());
    return stream;
  }

  #call(): void {
    const { keys, node } = this.#options;
    const { identity, psk } = keys.own(node);
    const session = connect(`https://${this.#place}`, {
      ...wireTls,
      pskCallback: () => ({ identity, psk }),
      // The key that both have is what proves who they are.
      checkServerIdentity: () => undefined,
      settings: { initialWindowSize: 1024 * 1024, enablePush: false },
    } as object);
    this.#session = session;
    const late = setTimeout(() => session.destroy(new Error('it does not answer')), connectMs);
    session.once('connect', () => {
      clearTimeout(late);
      session.setLocalWindowSize(windowBytes);
      this.#watch(session);
      void this.#greet();
    });
    session.on('error', (error) => (this.#trouble = messageOf(error)));
    session.once('close', () => {
      clearTimeout(late);
      if (this.#session === session) {
        this.close();
      }
    });
  }

  /** A network that was cut says nothing, so silence is an end, too. */
  #watch(session: ClientHttp2Session): void {
    let heardAt = performance.now();
    clearInterval(this.#ping);
    this.#ping = setInterval(() => {
      if (performance.now() - heardAt > silentMs) {
        session.destroy(new Error(`no answer for ${silentMs / 1_000} s`));
      } else if (!session.destroyed) {
        session.ping((error) => {
          heardAt = error ? heardAt : performance.now();
        });
      }
    }, pingEveryMs).unref();
  }

  async #greet(): Promise<void> {
    const session = this.#session;
    this.#greetedAt = performance.now();
    try {
      const { operator, keys } = (await readJson(await this.ask('/house'))) as {
        operator?: unknown;
        keys?: unknown;
      };
      if (this.#session === session && typeof operator === 'string' && Array.isArray(keys)) {
        this.#options.keep(keys);
        this.#operator = operator;
        this.#isUp = true;
      }
    } catch (error) {
      this.#trouble = messageOf(error);
    }
  }
}

/** Resolves once the other side has agreed. */
function answered(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void =>
      reject(errors.owner_away({ cause: 'the connection broke' }, { retryAfterSeconds: 1 }));
    stream.once('close', gone);
    stream.once('response', (headers: IncomingHttpHeaders & { ':status'?: number }) => {
      stream.off('close', gone);
      if (headers[':status'] === 200) {
        resolve();
      } else {
        stream.destroy();
        reject(errors.owner_away({ cause: 'it has no house yet' }, { retryAfterSeconds: 1 }));
      }
    });
  });
}

/** Reads an answer of another node, which is bounded all the same. */
export async function readJson(stream: Duplex): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > answerBytes) {
      stream.destroy();
      throw errors.owner_away({ cause: 'its answer is too large' });
    }
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}
