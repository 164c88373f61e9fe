import { request } from 'node:http';
import type { Socket } from 'node:net';

const usualPort = 8_080;

/** Reads the address of a proxy, which was checked with the order. */
export function proxyOf(text: string): { readonly host: string; readonly port: number } {
  const url = new URL(text);
  const port = url.port === '' ? (/:80(?:\/|$)/.test(text) ? 80 : usualPort) : Number(url.port);
  return { host: url.hostname.replaceAll(/^\[|\]$/g, ''), port };
}

/** Has a proxy connect to a server, so that the connection is that to the server from then on. */
export function tunnelThrough(
  socket: Socket,
  authority: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: 'CONNECT',
      path: authority,
      headers: { ...headers, host: authority },
      createConnection: () => socket,
    });
    outgoing.once('error', reject);
    outgoing.once('connect', ({ statusCode: status = 0 }, _socket, head) => {
      if (status >= 200 && status < 300 && head.length === 0) {
        resolve();
      } else {
        reject(new Error(`the proxy does not connect: it answers ${status}`));
      }
    });
    outgoing.end();
  });
}
