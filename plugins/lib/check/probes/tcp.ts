import type { Facts } from '../model/check.ts';
import type { Means } from '../wire/conversation.ts';
import { dial } from '../wire/dial.ts';
import { hostPort } from './host-port.ts';

const maxHeard = 4_096;

/** Opens a TCP connection; sends and reads only if the order says so. */
export async function probeTcp({
  order,
  place: { reach },
  watch,
  signal,
}: Means): Promise<Partial<Facts>> {
  const { host, port } = hostPort(order.target)!;
  const address = await reach(host, port, order.ip);
  watch.end('resolve');
  const socket = await dial(address, port, watch, signal);
  try {
    const reads =
      order.send !== undefined || order.conditions.some((text) => /\[BODY\]/.test(text));
    if (order.send !== undefined) {
      socket.write(order.send);
    }
    const heard = reads ? await firstLines(socket, signal) : undefined;
    void (reads && watch.end('processing'));
    return {
      address: address.address,
      ...(heard !== undefined && { body: heard.toString('utf8'), body_bytes: heard.length }),
    };
  } finally {
    socket.destroy();
  }
}

/** Reads up to the end of the first line, or of the connection. */
async function firstLines(socket: AsyncIterable<unknown>, signal: AbortSignal): Promise<Buffer> {
  let heard = Buffer.alloc(0);
  for await (const piece of socket) {
    heard = Buffer.concat([heard, piece as Buffer]).subarray(0, maxHeard);
    if (heard.includes(10) || heard.length >= maxHeard) {
      break;
    }
  }
  signal.throwIfAborted();
  return heard;
}
