import type { Facts, Order, Place } from '../model/check.ts';
import { certificateOf } from './certificate.ts';
import { dial, secure } from './dial.ts';
import { hostPort } from './host-port.ts';
import type { Stopwatch } from './stopwatch.ts';

const usualPort = 443;

/** Makes a TLS handshake, and reads the certificate. */
export async function probeTls(
  order: Order,
  { reach }: Place,
  watch: Stopwatch,
  signal: AbortSignal,
): Promise<Partial<Facts>> {
  const { host, port } = hostPort(order.target, usualPort)!;
  const address = await reach(host, port, order.ip);
  watch.end('resolve');
  const socket = await dial(address, port, watch, signal);
  try {
    const secured = await secure(socket, host, order, watch, signal);
    const certificate = certificateOf(secured);
    secured.destroy();
    return { address: address.address, ...(certificate !== undefined && { certificate }) };
  } finally {
    socket.destroy();
  }
}
