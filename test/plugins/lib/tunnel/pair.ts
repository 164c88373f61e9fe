import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

import {
  dial,
  type MessageTransport,
  openSession,
  openSweeper,
  type SessionOptions,
  type Sweeper,
  sweepMs,
  tunnelProtocol,
  type TunnelHandlers,
  type TunnelLimits,
  type TunnelSession,
} from 'svc/tunnel';
import { type WebSocket, WebSocketServer } from 'ws';

import type { Clock, Ids, Logger } from '../../../../core/sdk/index.ts';
import { WebSocketTransport } from '../../../../plugins/lib/tunnel/message/web-socket.ts';

export const ids: Ids = {
  uuid: () => randomUUID(),
  token: (bytes = 32) => randomBytes(bytes).toString('base64url'),
};
export const realClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

export interface LogBook extends Logger {
  readonly lines: string[];
}

export function logBook(): LogBook {
  const lines: string[] = [];
  const line = (fields: object, message: string): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, debug: line, info: line, warn: line, error: line };
}

/** Creates a clock that only moves when told to, with its sweeper. */
export function handClock(): { sweeper: Sweeper; pass: (ms: number) => void; clock: Clock } {
  let now = 1_000;
  const clock: Clock = { now: () => 1_790_000_000_000 + now, monotonic: () => now };
  const sweeper = openSweeper(clock, (error) => {
    throw error;
  });
  return {
    clock,
    sweeper,
    pass(ms) {
      now += ms;
      sweeper.tick();
    },
  };
}

/** Creates a sweeper that runs until the test ends. */
export function realSweeper(t: Pick<TestContext, 'after'>): Sweeper {
  const sweeper = openSweeper(realClock, (error) => {
    throw error;
  });
  const timer = setInterval(() => sweeper.tick(), sweepMs);
  t.after(() => clearInterval(timer));
  return sweeper;
}

/** One end of a connection in memory, that can be made to stand still. */
export class MemoryTransport implements MessageTransport {
  other!: MemoryTransport;
  /** True to accept nothing of what is sent. */
  stalled = false;
  closed: { code: number; reason: string } | undefined;
  readonly sent: Uint8Array[] = [];
  #queue: Uint8Array[] = [];
  #message: ((data: string | Uint8Array) => void) | undefined;
  #close: ((code: number, reason: string) => void) | undefined;
  #drain: (() => void)[] = [];

  get bufferedBytes(): number {
    return this.#queue.reduce((sum, { length }) => sum + length, 0);
  }

  send(data: Uint8Array): void {
    if (!this.closed) {
      this.sent.push(data);
      this.#queue.push(data);
      queueMicrotask(() => this.flow());
    }
  }

  /** Lets what waits arrive at the other end. */
  flow(): void {
    while (!this.stalled && this.#queue.length > 0) {
      this.other.arrive(this.#queue.shift()!);
      this.#drain.forEach((listener) => listener());
    }
  }

  arrive(data: string | Uint8Array): void {
    if (!this.closed) {
      this.#message?.(data);
    }
  }

  close(code = 1000, reason = ''): void {
    queueMicrotask(() => {
      this.flow();
      this.ended(code, reason);
      this.other.ended(code, reason);
    });
  }

  terminate(): void {
    this.ended(1006, '');
    if (!this.stalled) {
      this.other.ended(1006, '');
    }
  }

  ended(code: number, reason: string): void {
    if (!this.closed) {
      this.closed = { code, reason };
      this.#close?.(code, reason);
    }
  }

  onMessage(listener: (data: string | Uint8Array) => void): void {
    this.#message = listener;
  }

  onClose(listener: (code: number, reason: string) => void): void {
    this.#close = listener;
  }

  onDrain(listener: () => void): void {
    this.#drain.push(listener);
  }
}

export function memoryPair(): { manager: MemoryTransport; edge: MemoryTransport } {
  const manager = new MemoryTransport();
  const edge = new MemoryTransport();
  manager.other = edge;
  edge.other = manager;
  return { manager, edge };
}

export interface SidesOptions {
  readonly manager?: TunnelHandlers;
  readonly edge?: TunnelHandlers;
  readonly limits?: Partial<TunnelLimits>;
  readonly journal?: SessionOptions['journal'];
  readonly sweeper?: Sweeper;
}

export interface Sides {
  readonly manager: TunnelSession;
  readonly edge: TunnelSession;
  readonly log: LogBook;
}

export function openSides(
  transports: { manager: MessageTransport; edge: MessageTransport },
  sweeper: Sweeper,
  options: SidesOptions = {},
): Sides {
  const log = logBook();
  const shared = {
    sweeper,
    log,
    random: () => 0.5,
    ...(options.limits && { limits: options.limits }),
    ...(options.journal && { journal: options.journal }),
  };
  return {
    log,
    manager: openSession(transports.manager, {
      ...shared,
      side: 'manager',
      ...(options.manager && { handlers: options.manager }),
    }),
    edge: openSession(transports.edge, {
      ...shared,
      side: 'edge',
      ...(options.edge && { handlers: options.edge }),
    }),
  };
}

/** Two sessions over memory, on a clock of the test's own. */
export function memorySides(options: SidesOptions = {}): Sides & {
  pass: (ms: number) => void;
  wires: { manager: MemoryTransport; edge: MemoryTransport };
} {
  const { sweeper, pass } = handClock();
  const wires = memoryPair();
  return { ...openSides(wires, sweeper, options), pass, wires };
}

export interface Listener {
  readonly port: number;
  readonly url: string;
  /** Returns connections, in order. */
  accept(): Promise<WebSocketTransport>;
}

/** Opens a WebSocket server as svc does. */
export async function listen(t: Pick<TestContext, 'after'>): Promise<Listener> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    perMessageDeflate: false,
    maxPayload: 1 << 20,
    handleProtocols: () => tunnelProtocol,
  });
  await once(server, 'listening');
  const arrived: WebSocketTransport[] = [];
  const waiting: ((transport: WebSocketTransport) => void)[] = [];
  server.on('connection', (ws: WebSocket) => {
    // A broken connection is told by 'close'.
    ws.on('error', () => undefined);
    const transport = new WebSocketTransport(ws);
    const next = waiting.shift();
    if (next) {
      next(transport);
    } else {
      arrived.push(transport);
    }
  });
  t.after(() => {
    server.clients.forEach((ws) => ws.terminate());
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `ws://127.0.0.1:${port}/`,
    accept: async () => arrived.shift() ?? new Promise((resolve) => waiting.push(resolve)),
  };
}

/** Two sessions over a real WebSocket. */
export async function socketSides(
  t: Pick<TestContext, 'after'>,
  options: SidesOptions = {},
): Promise<Sides> {
  const listener = await listen(t);
  const [edge, manager] = await Promise.all([dial({ url: listener.url }), listener.accept()]);
  return openSides({ manager, edge }, options.sweeper ?? realSweeper(t), options);
}

export async function until(what: () => boolean, deadlineMs = 5_000): Promise<void> {
  const from = performance.now();
  while (!what()) {
    if (performance.now() - from > deadlineMs) {
      throw new Error(`still not true after ${deadlineMs} ms: ${what.toString()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export const turns = async (count = 20): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
};
