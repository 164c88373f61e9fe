import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes connections on, until its line is cut: then no byte gets through, and nobody is told. */
export class Relay {
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #end: () => void;
  readonly port: number;
  #isCut = false;

  private constructor(server: ReturnType<typeof createServer>, target: number) {
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => this.#pass(socket, connect(target, '127.0.0.1')));
    this.#end = () => server.close();
  }

  static async to(target: number): Promise<Relay> {
    const server = createServer({ allowHalfOpen: false }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Relay(server, target);
  }

  cut(): void {
    this.#isCut = true;
    this.#pairs.forEach((pair) => pair.forEach((side) => side.pause()));
  }

  /** What waited goes on, as where a network is back before connections have been given up. */
  mend(): void {
    this.#isCut = false;
    for (const pair of this.#pairs) {
      const isOver = pair.some((side) => side.destroyed);
      pair.forEach((side) => (isOver ? side.destroy() : side.resume()));
    }
  }

  close(): void {
    this.#end();
    this.#pairs.forEach((pair) => pair.forEach((side) => side.destroy()));
  }

  #pass(near: Socket, far: Socket): void {
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('data', (bytes) => void (to.write(bytes) || from.pause()));
      to.on('drain', () => this.#isCut || from.resume());
      const end = (): void => {
        this.#pairs.delete(pair);
        pair.forEach((side) => side.destroy());
      };
      // An end does not get through either; the other side finds out by itself, or when the line is mended.
      from.on('error', () => (this.#isCut ? undefined : end()));
      from.on('close', () => (this.#isCut ? undefined : end()));
    }
    if (this.#isCut) {
      pair.forEach((side) => side.pause());
    }
  }
}
