import type { WebSocket } from 'ws';

import { withPin } from '../registry/index.ts';
import { isSvcError, type Socket, SvcError } from '../sdk/index.ts';
import { watchAuthority } from './authority.ts';
import type { HandlerCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import { isThenable } from './handle.ts';
import { onRetirement } from './retirement.ts';
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
  const farewells: (() => void)[] = [];
  const leave = (code: number, text: string): void => {
    farewells.splice(0).forEach((say) => say());
    ws.close(code, text);
  };
  const retire = (): void => leave(closeCode.restart, 'reloading; come back');
  const guest = { leave: () => leave(closeCode.goingAway, 'the service is stopping'), cut: () => ws.terminate() };

  front.registry.leases.hold(owner);
  exchange.leaveSnapshot();
  exchange.report();
  front.guests.add(guest);
  const unretire = onRetirement(owner.scope.signal, retire);
  const unwatch = declaration.authority === 'own' ? (): void => {} : watchAuthority(exchange, () => ws.close(closeCode.refused, 'your access has ended'));
  const letGo = front.keepAlive.watch(ws, declaration.heartbeat === 'own');
  try {
    await new Promise<void>((closed) => {
      ws.once('close', () => closed());
      // A broken frame or a reset; ws closes the socket itself and 'close' follows.
      ws.on('error', (error) => front.log.debug({ request_id: exchange.requestId, route: key, cause: error.message }, 'a socket broke'));
      const socket = wrap(exchange, ws, account, fail, farewells);
      // Until the handler listens, messages wait in the connection.
      ws.pause();
      const started = settled(() => account(() => declaration.handle(call, socket)), fail);
      void started.then(() => socket.held || ws.resume());
      if (owner.scope.signal.aborted) {
        retire();
      } else if (front.closing) {
        guest.leave();
      }
    });
  } finally {
    letGo();
    unwatch();
    unretire();
    front.guests.delete(guest);
    exchange.abort(new SvcError('unavailable', 'the socket is closed'));
    front.registry.leases.release(owner);
  }
}

/** The live socket as a handler sees it; everything it is told runs on its plugin's account. */
function wrap(
  { front }: Exchange,
  ws: WebSocket,
  account: <R>(work: () => R) => R,
  fail: (error: unknown) => void,
  farewells: (() => void)[],
): Socket & { readonly held: boolean } {
  let drained: (() => void) | undefined;
  let held = false;
  return {
    /** Whether the handler has asked to wait with further messages. */
    get held() {
      return held;
    },
    protocol: ws.protocol,
    get bufferedBytes() {
      return ws.bufferedAmount;
    },
    send(data) {
      if (ws.bufferedAmount > front.limits.socketBufferBytes) {
        ws.terminate();
        return;
      }
      ws.send(data, drained);
    },
    close: (code = 1000, text = '') => ws.close(code, reason(text)),
    terminate: () => ws.terminate(),
    pause() {
      held = true;
      ws.pause();
    },
    resume() {
      held = false;
      ws.resume();
    },
    onDrain(listener) {
      const before = drained;
      drained = () => {
        before?.();
        void settled(() => account(listener), fail);
      };
    },
    onMessage(listener) {
      ws.on('message', (data: Buffer, isBinary) => {
        void settled(() => account(() => listener(isBinary ? data : data.toString('utf8'))), fail);
      });
      if (!held) {
        ws.resume();
      }
    },
    onClose(listener) {
      ws.on('close', (code, text) => {
        void settled(() => account(() => listener(code, text.toString('utf8'))), fail);
      });
    },
    onLeave(listener) {
      farewells.push(() => {
        try {
          account(listener);
        } catch (error) {
          fail(error);
        }
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
