import type { WebSocket } from 'ws';

import { withPin } from '../../registry/index.ts';
import { isSvcError, type MaybePromise, type Socket } from '../../sdk/index.ts';
import { watchAuthority } from '../access/authority.ts';
import { bindMethods } from '../handler/bound.ts';
import type { HandlerCall } from '../handler/call.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Front, LongAnswer } from '../exchange/front.ts';
import { isThenable } from '../handler/call.ts';
import type { Served } from '../routes/route-table.ts';

/** Close codes of RFC 6455 and its registry. */
const closeCode = { goingAway: 1001, refused: 1008, broken: 1011, restart: 1012 } as const;
const stay = (): void => undefined;

/** Runs a socket route's handler until either side closes the socket. Returns at once, so that the request is not kept. */
export function runSocket(
  exchange: Exchange,
  served: Served,
  call: HandlerCall,
  ws: WebSocket,
): void {
  const { front, requestId } = exchange;
  const { declaration } = served.route;
  exchange.leaveSnapshot();
  exchange.report();
  const socket = new LiveSocket(front, served, ws, requestId);
  socket.unwatch =
    declaration.authority === 'own'
      ? stay
      : watchAuthority(exchange, () => ws.close(closeCode.refused, 'your access has ended'));
  socket.begin(() => declaration.handle(call, socket));
}

/**
 * The live socket as its handler sees it; its listeners run on its plugin's account. There may be ten thousand, open for
 * weeks: it keeps nothing of the request that it began as.
 */
class LiveSocket implements Socket, LongAnswer {
  readonly #front: Front;
  readonly #owner: Served['route']['owner'];
  readonly #key: string;
  readonly #ws: WebSocket;
  readonly #requestId: string;
  readonly #unretire: () => void;
  readonly #unping: () => void;
  #drained: (() => void) | undefined;
  #leaveListeners: (() => void)[] | undefined;
  /** The handler has asked to wait with further messages. */
  #held = false;
  unwatch: () => void = stay;

  static {
    bindMethods(LiveSocket.prototype);
  }

  constructor(
    front: Front,
    { route: { owner, key, declaration } }: Served,
    ws: WebSocket,
    requestId: string,
  ) {
    this.#front = front;
    this.#owner = owner;
    this.#key = key;
    this.#ws = ws;
    this.#requestId = requestId;
    front.open += 1;
    front.registry.leases.hold(owner);
    front.longAnswers.add(this);
    this.#unretire = onRetirement(owner.scope.signal, () => this.#retire());
    this.#unping = front.keepAlive.watch(ws, declaration.heartbeat === 'own');
    ws.once('close', () => this.#end());
    // A broken frame or a reset; ws closes the socket itself and 'close' follows.
    ws.on('error', (error) =>
      front.log.debug(
        {
          event: 'http.socket_error',
          request_id: this.#requestId,
          route: key,
          cause: error.message,
        },
        'WebSocket failed; closing',
      ),
    );
  }

  begin(start: () => unknown): void {
    // Until the handler listens, messages wait in the connection.
    this.#ws.pause();
    void this.#settled(start).then(() => this.#held || this.#ws.resume());
    if (this.#owner.scope.signal.aborted) {
      this.#retire();
    } else if (this.#front.closing) {
      this.stop();
    }
  }

  /** The service stops. */
  stop(): void {
    this.#leave(closeCode.goingAway, 'the service is stopping');
  }

  get protocol(): string {
    return this.#ws.protocol;
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  send(data: string | Uint8Array): void {
    if (this.#ws.bufferedAmount > this.#front.limits.socketBufferBytes) {
      this.#ws.terminate();
      return;
    }
    this.#ws.send(data, this.#drained);
  }

  close(code = 1000, text = ''): void {
    this.#ws.close(code, reason(text));
  }

  terminate(): void {
    this.#ws.terminate();
  }

  pause(): void {
    this.#held = true;
    this.#ws.pause();
  }

  resume(): void {
    this.#held = false;
    this.#ws.resume();
  }

  onDrain(listener: () => void): void {
    const before = this.#drained;
    this.#drained = () => {
      before?.();
      void this.#settled(listener);
    };
  }

  onMessage(listener: (data: string | Uint8Array) => MaybePromise<void>): void {
    this.#ws.on(
      'message',
      (data: Buffer, isBinary) =>
        void this.#settled(() => listener(isBinary ? data : data.toString('utf8'))),
    );
    if (!this.#held) {
      this.#ws.resume();
    }
  }

  onClose(listener: (code: number, reason: string) => MaybePromise<void>): void {
    this.#ws.on(
      'close',
      (code, text) => void this.#settled(() => listener(code, text.toString('utf8'))),
    );
  }

  onLeave(listener: () => void): void {
    // Most have one: an array that grows from empty reserves space for seventeen.
    this.#leaveListeners = this.#leaveListeners ? [...this.#leaveListeners, listener] : [listener];
  }

  #retire(): void {
    this.#leave(closeCode.restart, 'reloading; come back');
  }

  #leave(code: number, text: string): void {
    for (const listener of this.#leaveListeners?.splice(0) ?? []) {
      try {
        this.#account(listener);
      } catch (error) {
        this.#fail(error);
      }
    }
    this.#ws.close(code, text);
  }

  #end(): void {
    const { longAnswers, registry } = this.#front;
    this.#unping();
    this.unwatch();
    this.#unretire();
    longAnswers.delete(this);
    registry.leases.release(this.#owner);
    this.#front.open -= 1;
  }

  #account<R>(work: () => R): R {
    return withPin({ snapshot: undefined, owner: this.#owner }, work);
  }

  /** Runs plugin code that may throw now or later; either way the error ends the socket. A promise is waited for only where there is one: most have none. */
  #settled(work: () => unknown): Promise<void> {
    try {
      const outcome = this.#account(work);
      return isThenable(outcome)
        ? Promise.resolve(outcome).then(stay, (error: unknown) => this.#fail(error))
        : settledAlready;
    } catch (error) {
      this.#fail(error);
      return settledAlready;
    }
  }

  #fail(error: unknown): void {
    if (isSvcError(error)) {
      this.#ws.close(closeCode.refused, reason(error.message));
    } else {
      this.#front.strike(this.#owner, this.#key, error);
      this.#ws.close(closeCode.broken, 'internal error');
    }
  }
}

const settledAlready = Promise.resolve();

const retirementListeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Runs `work` when the signal aborts. One listener for all: a signal looks through those it has at each that comes or goes. */
function onRetirement(signal: AbortSignal, work: () => void): () => void {
  let all = retirementListeners.get(signal);
  if (!all) {
    const listeners = new Set<() => void>();
    all = listeners;
    retirementListeners.set(signal, listeners);
    signal.addEventListener('abort', () => listeners.forEach((listener) => listener()), {
      once: true,
    });
  }
  all.add(work);
  return () => void all.delete(work);
}

/** Truncates a reason: a close frame holds 123 bytes of text. */
function reason(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= 123
    ? text
    : bytes
        .subarray(0, 120)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
}
