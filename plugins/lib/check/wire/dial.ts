import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, type TLSSocket } from 'node:tls';

import type { Address, Order } from '../model/check.ts';
import type { Stopwatch } from './stopwatch.ts';

/** Opens a connection to an address that was checked; `signal` closes it, also later. */
export function dial(
  { address, family }: Address,
  port: number,
  watch: Stopwatch,
  signal: AbortSignal,
): Promise<Socket> {
  return settled(connectPlain({ host: address, port, family }), 'connect', signal).then(
    (socket) => {
      watch.end('connect');
      return socket;
    },
  );
}

/** Begins TLS on an open connection. An invalid certificate is a finding, so it ends nothing here. */
export function secure(
  socket: Socket,
  host: string,
  { server_name: given, ca }: Pick<Order, 'server_name' | 'ca'>,
  watch: Stopwatch,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const name = given ?? (isIP(host) === 0 ? host : undefined);
  const secured = connectSecure({
    socket,
    rejectUnauthorized: false,
    ...(ca !== undefined && { ca }),
    // The name that the certificate is compared with, which an address is as well.
    host: given ?? host,
    ...(name !== undefined && { servername: name }),
  });
  return settled(secured, 'secureConnect', signal).then((ready) => {
    watch.end('tls');
    return ready;
  });
}

function settled<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void socket.destroy(new Error('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => {
      signal.removeEventListener('abort', stop);
      reject(new Error('the server closed the connection'));
    });
    // Stays, so that a reset after the answer ends nothing.
    socket.on('error', reject);
    socket.once(event, () => resolve(socket));
    void (signal.aborted && stop());
  });
}
