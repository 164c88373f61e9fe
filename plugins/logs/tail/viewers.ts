import type { Disposer, Principal, Scope, Socket, ThreadHandle } from 'svc/sdk';
import { askerOf } from 'svc/query';

import type { OpenedTail, TailInput } from '../thread/contract.ts';
import { errors } from './errors.ts';

/** Unread bytes above which a slow client gets nothing new; the thread counts what it misses. */
const maxUnread = 512 * 1024;
const maxOfOne = 6;
const lookEveryMs = 250;

export interface TailClient {
  readonly principal: Principal;
  readonly socket: Socket;
  readonly signal: AbortSignal;
}

/** Everyone who watches lines as they come. */
export class TailViewers {
  readonly #thread: ThreadHandle;
  readonly #scope: Scope;
  #stopLooking: Disposer | undefined;
  readonly #viewers = new Map<number, Viewer>();
  /** Tails per asker, including those being opened. */
  readonly #counts = new Map<string | undefined, number>();

  constructor(thread: ThreadHandle, scope: Scope) {
    this.#thread = thread;
    this.#scope = scope;
  }

  async open(input: TailInput, { principal, socket, signal }: TailClient): Promise<void> {
    const leave = this.#enter(askerOf(principal));
    const gone = new AbortController();
    socket.onClose(() => {
      leave();
      gone.abort();
    });
    const { id, frame } = await this.#thread.call<OpenedTail>('openTail', input, { signal });
    const viewer = new Viewer({ thread: this.#thread, principal, socket }, id);
    this.#viewers.set(id, viewer);
    // Lines may be held back for a while, and no notice marks the end of that.
    this.#stopLooking ??= this.#scope.interval('look after live tails', lookEveryMs, () =>
      this.#viewers.forEach((each) => void each.pump()),
    );
    socket.onClose(() => this.#forget(viewer));
    if (gone.signal.aborted) {
      return this.#forget(viewer);
    }
    if (frame !== undefined) {
      socket.send(textOf(frame));
    }
    await viewer.pump();
  }

  wake(id: number): void {
    void this.#viewers.get(id)?.pump();
  }

  /** Ends the tails of those who may not be here any longer. */
  endWhere(which: (principal: Principal) => boolean): void {
    this.#viewers.forEach((viewer) => which(viewer.principal) && viewer.end());
  }

  #forget(viewer: Viewer): void {
    viewer.closed = true;
    this.#viewers.delete(viewer.id);
    if (this.#viewers.size === 0) {
      void this.#stopLooking?.();
      this.#stopLooking = undefined;
    }
    void this.#thread.call('closeTail', viewer.id).catch(() => undefined);
  }

  #enter(asker: string | undefined): () => void {
    const count = this.#counts.get(asker) ?? 0;
    if (count >= maxOfOne) {
      throw errors.too_many_own_tails({ count }, { retryAfterSeconds: 10 });
    }
    this.#counts.set(asker, count + 1);
    return () => {
      const left = this.#counts.get(asker)! - 1;
      if (left === 0) {
        this.#counts.delete(asker);
      } else {
        this.#counts.set(asker, left);
      }
    };
  }
}

interface ViewerParts {
  readonly thread: ThreadHandle;
  readonly principal: Principal;
  readonly socket: Socket;
}

/** One client's live view: fetches frames from the thread as fast as the client reads them. */
class Viewer {
  readonly id: number;
  readonly principal: Principal;
  readonly #thread: ThreadHandle;
  readonly #socket: Socket;
  #busy = false;
  closed = false;

  constructor({ thread, principal, socket }: ViewerParts, id: number) {
    this.principal = principal;
    this.#thread = thread;
    this.#socket = socket;
    this.id = id;
  }

  async pump(): Promise<void> {
    if (this.#busy || this.closed) {
      return;
    }
    this.#busy = true;
    try {
      while (!this.closed && this.#socket.bufferedBytes < maxUnread) {
        const frame = await this.#thread.call<Uint8Array | undefined>('takeTail', this.id);
        if (frame === undefined || this.closed) {
          break;
        }
        this.#socket.send(textOf(frame));
      }
    } catch {
      // The thread was restarted and does not know this tail: clients of Loki reconnect.
      this.#close(1012, 'the tail has ended; open it again');
    } finally {
      this.#busy = false;
    }
  }

  end(): void {
    this.#close(1008, 'the account or the session of this tail has ended; sign in again');
  }

  #close(code: number, reason: string): void {
    this.closed = true;
    this.#socket.close(code, reason);
  }
}

const textOf = (frame: Uint8Array): string =>
  Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('utf8');
