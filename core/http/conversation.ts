import type { WebSocket } from 'ws';

import { withPin } from '../registry/index.ts';
import { isSvcError, type Socket, SvcError } from '../sdk/index.ts';
import { watchAuthority } from './authority.ts';
import type { HandlerCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import { isThenable } from './handle.ts';
import { keepAlive } from './keep-alive.ts';
import type { Served } from './route-table.ts';

/** Close codes of RFC 6455 and its registry. */
const closeCode = { goingAway: 1001, refused: 1008, broken: 1011, restart: 1012 } as const;

/** Runs a socket route's handler and stays until the socket is closed, by whomever. */
export async function converse(exchange: Exchange, served: Served, call: HandlerCall, ws: WebSocket): Promise<void> {
  const { front } = exchange;
  const { owner, key, declaration } = served.route;
  const account = <R>(work: () => R): R => withPin({ snapshot: undefined, owner }, work);
  const fail = (error: unknown): void => {
    if (isSvcError(error)) {
      ws.close(closeCode.refused, reason(error.message));
    } else {
      front.strike(owner, key, error);
      ws.close(closeCode.broken, 'something went wrong inside');
    }
  };
  const retire = (): void => ws.close(closeCode.restart, 'reloading; come back');
  const guest = { leave: () => ws.close(closeCode.goingAway, 'the service is stopping'), cut: () => ws.terminate() };

  front.registry.leases.hold(owner);
  exchange.leaveSnapshot();
  exchange.report();
  front.guests.add(guest);
  owner.scope.signal.addEventListener('abort', retire);
  const unwatch = watchAuthority(exchange, () => ws.close(closeCode.refused, 'your access has ended'));
  const letGo = keepAlive(ws, front.limits.pingMs);
  try {
    await new Promise<void>((closed) => {
      ws.once('close', () => closed());
      // A broken frame or a reset; ws closes the socket itself and 'close' follows.
      ws.on('error', (error) => front.log.debug({ request_id: exchange.requestId, route: key, cause: error.message }, 'a socket broke'));
      const socket = wrap(exchange, ws, account, fail);
      // Until the handler listens, messages wait in the connection.
      ws.pause();
      const started = settled(() => account(() => declaration.handle(call, socket)), fail);
      void started.then(() => ws.resume());
      if (owner.scope.signal.aborted) {
        retire();
      } else if (front.closing) {
        guest.leave();
      }
    });
  } finally {
    letGo();
    unwatch();
    owner.scope.signal.removeEventListener('abort', retire);
    front.guests.delete(guest);
    exchange.abort(new SvcError('unavailable', 'the socket is closed'));
    front.registry.leases.release(owner);
  }
}

/** The live socket as a handler sees it; everything it is told runs on its plugin's account. */
function wrap({ front }: Exchange, ws: WebSocket, account: <R>(work: () => R) => R, fail: (error: unknown) => void): Socket {
  return {
    protocol: ws.protocol,
    get bufferedBytes() {
      return ws.bufferedAmount;
    },
    send(data) {
      if (ws.bufferedAmount > front.limits.socketBufferBytes) {
        ws.terminate();
        return;
      }
      ws.send(data);
    },
    close: (code = 1000, text = '') => ws.close(code, reason(text)),
    onMessage(listener) {
      ws.on('message', (data: Buffer, isBinary) => {
        void settled(() => account(() => listener(isBinary ? data : data.toString('utf8'))), fail);
      });
      ws.resume();
    },
    onClose(listener) {
      ws.on('close', (code, text) => {
        void settled(() => account(() => listener(code, text.toString('utf8'))), fail);
      });
    },
  };
}

/** Runs plugin code that may throw now or later; either way the error arrives at `fail`. */
async function settled(work: () => unknown, fail: (error: unknown) => void): Promise<void> {
  try {
    const outcome = work();
    if (isThenable(outcome)) {
      await outcome;
    }
  } catch (error) {
    fail(error);
  }
}

/** A close frame has room for 123 bytes of text. */
function reason(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= 123
    ? text
    : bytes
        .subarray(0, 120)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
}
