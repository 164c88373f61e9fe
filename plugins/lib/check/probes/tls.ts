import type { Facts } from '../model/check.ts';
import type { Means } from '../wire/conversation.ts';
import { certificateOf } from '../wire/certificate.ts';
import { dial, secure } from '../wire/dial.ts';
import { hostPort } from './host-port.ts';

const usualPort = 443;

/** Makes a TLS handshake, and reads the certificate. */
export async function probeTls({
  order,
  place: { reach },
  watch,
  signal,
}: Means): Promise<Partial<Facts>> {
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
