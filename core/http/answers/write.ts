import type { Exchange } from '../exchange/exchange.ts';

/**
 * Writes a piece of a streamed answer and waits until the client can take the next. False if the
 * client is gone, also if it left its data unread for too long and was cut.
 */
export function writeOrWait(
  { res, req, front }: Exchange,
  chunk: string | Uint8Array,
): Promise<boolean> {
  const { socket } = req;
  if (socket.destroyed) {
    return Promise.resolve(false);
  }
  if (res.write(chunk)) {
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const settle = (open: boolean): void => {
      clearTimeout(timer);
      res.off('drain', drained);
      socket.off('close', closed);
      resolve(open);
    };
    const drained = (): void => settle(true);
    const closed = (): void => settle(false);
    const timer = setTimeout(() => {
      res.destroy();
      settle(false);
    }, front.limits.unreadMs);
    res.once('drain', drained);
    socket.once('close', closed);
  });
}
