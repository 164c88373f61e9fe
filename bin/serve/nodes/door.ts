import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';

import type { TlsOptions } from '../../../core/http/index.ts';
import { followCertificate, readCertificate } from '../../../core/http/server/tls.ts';
import type { Logger } from '../../../core/sdk/index.ts';

/** Bounds of connections, which are those of the house. */
const settings: ServerOptions = {
  maxHeaderSize: 208 * 1024,
  requireHostHeader: false,
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  requestTimeout: 600_000,
};
const maxConnections = 15_000;

interface DoorOptions {
  readonly hostname: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  readonly log: Logger;
  readonly answer: (req: IncomingMessage, res: ServerResponse) => void;
  readonly upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Addresses of a node while no house listens there. */
export class Door {
  readonly #options: DoorOptions;
  #servers: Server[] = [];
  #forget: () => void = () => undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#servers.length > 0;
  }

  async open(): Promise<void> {
    const { hostname, port, tls, log, answer } = this.#options;
    if (tls !== undefined) {
      const server = createTlsServer({ ...settings, ...readCertificate(tls) }, answer);
      this.#forget = followCertificate(server, tls, log);
      await this.#listen(server, tls.host, tls.port);
    }
    await this.#listen(createServer(settings, answer), hostname, port);
  }

  /** Leaves the addresses; what has been accepted is answered yet. */
  close(): void {
    this.#forget();
    this.#servers.forEach((server) => {
      server.close();
      server.closeIdleConnections();
    });
    this.#servers = [];
  }

  async #listen(server: Server, host: string, port: number): Promise<void> {
    server.maxConnections = maxConnections;
    server.on('upgrade', this.#options.upgrade);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#servers.push(server);
  }
}
