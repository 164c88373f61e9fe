import { serialize } from 'node:v8';

import { messageOf, SvcError } from 'svc/sdk';

import { frame } from './frames.ts';
import type { FromChild, ToChild } from './wire.ts';

export interface CallLimits {
  /** Calls that may be open at once, those included whose caller has given up. */
  readonly maxCalls: number;
  readonly maxPayloadBytes: number;
}

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface OpenCall {
  /** Undefined once the caller has given up and only the child still works on it. */
  settle: ((outcome: { value: unknown } | { error: unknown }) => void) | undefined;
}

/** The calls that one process works on. */
export class Calls {
  readonly #label: string;
  readonly #limits: CallLimits;
  readonly #send: (framed: Buffer) => void;
  readonly #onStuck: (cause: string) => void;
  readonly #open = new Map<number, OpenCall>();
  #last = 0;

  /** `onStuck` hears when every place is taken by a call whose caller has long given up. */
  constructor(label: string, limits: CallLimits, send: (framed: Buffer) => void, onStuck: (cause: string) => void) {
    this.#label = label;
    this.#limits = limits;
    this.#send = send;
    this.#onStuck = onStuck;
  }

  /** Rejects with the child's own error, or unavailable when it is late, full or gone. */
  call(method: string, input: unknown, { timeoutMs, signal }: CallOptions): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#open.size >= this.#limits.maxCalls) {
      throw new SvcError('unavailable', `${this.#label} works on ${this.#limits.maxCalls} calls already; try again`, { retryAfterSeconds: 1 });
    }
    const id = (this.#last += 1);
    const framed = this.#frameOf(id, method, input);
    return new Promise((resolve, reject) => {
      const call: OpenCall = {
        settle: (outcome) => {
          call.settle = undefined;
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          if ('error' in outcome) {
            reject(outcome.error);
          } else {
            resolve(outcome.value);
          }
        },
      };
      const onAbort = (): void => this.#giveUp(id, call, signal?.reason);
      const timer = setTimeout(
        () => this.#giveUp(id, call, new SvcError('unavailable', `${this.#label} did not answer ${method} within ${timeoutMs} ms`, { retryAfterSeconds: 1 })),
        timeoutMs,
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#open.set(id, call);
      this.#send(framed);
    });
  }

  /** False when nothing was asked that this could answer. */
  hear(reply: FromChild & { t: 'reply' }): boolean {
    const call = this.#open.get(reply.id);
    this.#open.delete(reply.id);
    call?.settle?.(reply.error ? { error: new SvcError(reply.error.code, reply.error.message) } : { value: reply.value });
    return call !== undefined;
  }

  /** The process is gone: no answer will come. */
  end(cause: string): void {
    for (const call of this.#open.values()) {
      call.settle?.({ error: new SvcError('unavailable', `${this.#label} ended during the call: ${cause}`, { retryAfterSeconds: 5 }) });
    }
    this.#open.clear();
  }

  #giveUp(id: number, call: OpenCall, error: unknown): void {
    call.settle?.({ error });
    this.#send(frame(serialize({ t: 'cancel', id } satisfies ToChild)));
    if (this.#open.size >= this.#limits.maxCalls && [...this.#open.values()].every((open) => !open.settle)) {
      this.#onStuck(`${this.#open.size} calls never ended, also after their deadline`);
    }
  }

  #frameOf(id: number, method: string, input: unknown): Buffer {
    const body = this.#serialized({ t: 'call', id, method, input });
    if (body.byteLength > this.#limits.maxPayloadBytes) {
      throw new SvcError('invalid_argument', `a call of ${this.#label} may carry ${this.#limits.maxPayloadBytes} bytes, this one has ${body.byteLength}`, {
        status: 413,
      });
    }
    return frame(body);
  }

  #serialized(message: ToChild): Buffer {
    try {
      return serialize(message);
    } catch (error) {
      throw new SvcError('invalid_argument', `a call of ${this.#label} takes plain data only: ${messageOf(error)}`, { cause: error });
    }
  }
}
