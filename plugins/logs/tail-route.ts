import { type Clock, type Scope, type Socket, socketRoute, SvcError, type RouteDeclaration, type ThreadHandle } from 'svc/sdk';
import { askerOf } from 'svc/query';
import { Type } from 'typebox';

import { lokiWording } from './loki-routes.ts';
import { Parameters } from './loki/parameters.ts';
import { parametersOf } from './parameter-list.ts';
import type { OpenedTail, TailInput } from './thread-contract.ts';

const longestDelaySeconds = 5;
/** A client that reads more slowly than this much waits in its socket gets nothing new; the thread counts what it misses. */
const mostUnread = 512 * 1024;
const lookEveryMs = 250;
const hourMs = 3_600_000;

export interface TailParts {
  readonly thread: ThreadHandle;
  readonly scope: Scope;
  readonly clock: Clock;
  /** Why no tail can be opened at the moment. */
  readonly refusal: () => string | undefined;
}

/** One client's live view: fetches frames from the thread as fast as the client reads them. */
class Viewer {
  readonly #thread: ThreadHandle;
  readonly #socket: Socket;
  readonly #id: number;
  #busy = false;
  closed = false;

  constructor(thread: ThreadHandle, socket: Socket, id: number) {
    this.#thread = thread;
    this.#socket = socket;
    this.#id = id;
  }

  async pump(): Promise<void> {
    if (this.#busy || this.closed) {
      return;
    }
    this.#busy = true;
    try {
      while (!this.closed && this.#socket.bufferedBytes < mostUnread) {
        const frame = await this.#thread.call<Uint8Array | undefined>('takeTail', this.#id);
        if (frame === undefined) {
          break;
        }
        this.#socket.send(textOf(frame));
      }
    } catch {
      // The thread was started anew and knows nothing of this tail: clients of Loki connect again.
      this.closed = true;
      this.#socket.close(1012, 'the tail has ended; open it again');
    } finally {
      this.#busy = false;
    }
  }
}

/** Loki's live tail: frames of JSON over a WebSocket. */
export function tailRoute({ thread, scope, clock, refusal }: TailParts): RouteDeclaration {
  const viewers = new Map<number, Viewer>();
  scope.defer(
    'stop hearing of new lines',
    thread.onNotice(({ kind, value }) => void (kind === 'tail' && viewers.get(value as number)?.pump())),
  );
  scope.interval('look after live tails', lookEveryMs, () => viewers.forEach((viewer) => void viewer.pump()));

  return socketRoute({
    path: '/loki/api/v1/tail',
    access: 'any',
    summary: 'Lines as they come, as Loki streams them',
    wording: lokiWording,
    query: Type.Object(
      {
        query: Type.String({ maxLength: 8192, description: 'LogQL log query' }),
        delay_for: Type.Optional(Type.String({ maxLength: 10, description: 'seconds a line waits for older ones, 5 at most' })),
        limit: Type.Optional(Type.String({ maxLength: 20, description: 'lines from before that come first, 100 by default' })),
        start: Type.Optional(Type.String({ maxLength: 64, description: 'where those begin, by default an hour ago' })),
      },
      { additionalProperties: true },
    ),
    async handle({ query, principal, signal }, socket) {
      const reason = refusal();
      if (reason !== undefined) {
        throw new SvcError('conflict', reason);
      }
      const input = tailInput(query, askerOf(principal), clock.now());
      const { id, frame } = await thread.call<OpenedTail>('openTail', input, { signal });
      const viewer = new Viewer(thread, socket, id);
      viewers.set(id, viewer);
      socket.onClose(() => {
        viewer.closed = true;
        viewers.delete(id);
        return void thread.call('closeTail', id).catch(() => undefined);
      });
      if (frame !== undefined) {
        socket.send(textOf(frame));
      }
      await viewer.pump();
    },
  });
}

function tailInput(query: object, asker: string | undefined, now: number): TailInput {
  const parameters = new Parameters(parametersOf(query), now);
  const delay = parameters.text('delay_for') ?? '0';
  if (!/^\d{1,2}$/.test(delay) || Number(delay) > longestDelaySeconds) {
    throw new SvcError('invalid_argument', `delay_for can't be greater than ${longestDelaySeconds}`);
  }
  const { start } = parameters.window(hourMs);
  return { query: parameters.query, delayMs: Number(delay) * 1_000, limit: parameters.limit, start: start.ms + start.ns / 1e6, asker };
}

const textOf = (frame: Uint8Array): string => Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('utf8');
