import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface ChaosProxy {
  readonly port: number;
  /** Pieces are cut to at most so many bytes; 0 leaves them whole. */
  fragment: number;
  /** Delay before each piece is forwarded. */
  delayMs: number;
  /** True to block traffic both ways on an open connection. */
  dead: boolean;
  /** Ends every connection with a reset. */
  reset(): void;
}

/** A TCP connection as the world has them, in front of `target`. */
export async function chaosProxy(
  t: Pick<TestContext, 'after'>,
  target: number,
): Promise<ChaosProxy> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (inside) => {
    const outside = connect({ port: target, host: '127.0.0.1', noDelay: true });
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(from);
      // A reset is what this is for; 'close' follows.
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      void forward(from, to);
    }
  });
  const proxy = {
    port: 0,
    fragment: 0,
    delayMs: 0,
    dead: false,
    reset: () => sockets.forEach((socket) => socket.resetAndDestroy()),
  };

  async function forward(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (let at = 0; at < chunk.length;) {
          const size = proxy.fragment || chunk.length;
          if (proxy.delayMs > 0) {
            await new Promise((resolve) => setTimeout(resolve, proxy.delayMs));
          }
          while (proxy.dead && !to.destroyed) {
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          if (to.destroyed) {
            return;
          }
          // One write a piece, so that the other side reads it by itself.
          await new Promise<void>((resolve) =>
            to.write(chunk.subarray(at, at + size), () => resolve()),
          );
          at += size;
        }
      }
      to.end();
    } catch {
      to.destroy(); // The reset that a test has asked for.
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  proxy.port = (server.address() as AddressInfo).port;
  return proxy;
}
