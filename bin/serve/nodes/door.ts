import { createServer, type RequestListener, type Server } from 'node:http';

/** Address of a node while no house listens there. */
export class Door {
  readonly #answer: RequestListener;
  #server: Server | undefined;

  constructor(answer: RequestListener) {
    this.#answer = answer;
  }

  /** Resolves with the port that was bound. */
  async open(host: string, port: number): Promise<number> {
    const server = createServer(this.#answer);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#server = server;
    return (server.address() as { port: number }).port;
  }

  /** Leaves the address; what has been accepted is answered yet. */
  close(): void {
    this.#server?.close();
    this.#server?.closeIdleConnections();
    this.#server = undefined;
  }
}
