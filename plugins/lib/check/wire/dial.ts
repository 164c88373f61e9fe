import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, type TLSSocket } from 'node:tls';

import type { Address, CertificateFacts, Order } from '../model/check.ts';
import { certificateOf } from './certificate.ts';
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

export interface Secured {
  readonly socket: TLSSocket;
  readonly certificate: CertificateFacts | undefined;
}

/** Begins TLS, and ends it before anything is sent to a server whose certificate is not valid. */
export async function secureTrusted(
  socket: Socket,
  host: string,
  order: Pick<Order, 'server_name' | 'ca' | 'insecure'>,
  watch: Stopwatch,
  signal: AbortSignal,
  protocols?: readonly string[],
): Promise<Secured> {
  const secured = await secure(socket, host, order, watch, signal, protocols);
  const certificate = certificateOf(secured);
  if (order.insecure !== true && certificate !== undefined && certificate.problem !== null) {
    throw new UntrustedError(certificate);
  }
  return { socket: secured, certificate };
}

/** Failure of a server whose certificate is not valid; the certificate is known nevertheless. */
export class UntrustedError extends Error {
  readonly certificate: CertificateFacts;

  constructor(certificate: CertificateFacts) {
    super(certificate.problem ?? 'the certificate is not valid');
    this.certificate = certificate;
  }
}

/** Begins TLS on an open connection. An invalid certificate is a finding, so it ends nothing here. */
export function secure(
  socket: Socket,
  host: string,
  { server_name: given, ca }: Pick<Order, 'server_name' | 'ca'>,
  watch: Stopwatch,
  signal: AbortSignal,
  protocols?: readonly string[],
): Promise<TLSSocket> {
  const name = given ?? (isIP(host) === 0 ? host : undefined);
  const secured = connectSecure({
    socket,
    rejectUnauthorized: false,
    ...(ca !== undefined && { ca }),
    // The name that the certificate is compared with, which an address is as well.
    host: given ?? host,
    ...(name !== undefined && { servername: name }),
    ...(protocols !== undefined && { ALPNProtocols: [...protocols] }),
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
