import type { SvcError } from 'svc/sdk';

import { type Body, errorFrom } from '../message/body.ts';
import { frameType } from '../message/frames.ts';
import { longestCallMs } from '../message/limits.ts';
import type { Cancel } from '../message/sweeper.ts';
import type { CallOptions } from './contract.ts';
import { errors } from './errors.ts';
import type { Wire } from './wire.ts';

interface OpenCall {
  readonly id: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly cancel: Cancel;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: (() => void) | undefined;
}

/** The calls that this side has asked and that are not answered yet. */
export class OutboundCalls {
  readonly #wire: Wire;
  /**
   * Open calls: usually one, but ten thousand times one in a fleet, so an array of exact size where
   * a map would take more memory.
   */
  #open: readonly OpenCall[] = [];

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  get size(): number {
    return this.#open.length;
  }

  ask(
    method: string,
    params: unknown,
    { timeoutMs, idempotencyKey, signal }: CallOptions,
  ): Promise<unknown> {
    const { limits, peer, options } = this.#wire;
    signal?.throwIfAborted();
    if (this.#open.length >= limits.calls) {
      throw errors.peer_busy({ peer, calls: limits.calls }, { retryAfterSeconds: 1 });
    }
    const dl = Math.min(longestCallMs, Math.max(1, Math.ceil(timeoutMs)));
    const body = writeRequest(
      { m: method, p: params, dl, ...(idempotencyKey !== undefined && { i: idempotencyKey }) },
      limits.bodyBytes,
    );
    const id = this.#wire.nextId();
    return new Promise((resolve, reject) => {
      const cancel = options.sweeper.after(dl, () =>
        this.#giveUp(id, errors.no_answer({ peer, method, dl })),
      );
      const onAbort = signal && ((): void => this.#giveUp(id, signal.reason));
      signal?.addEventListener('abort', onAbort!, { once: true });
      this.#open = [...this.#open, { id, resolve, reject, cancel, signal, onAbort }];
      this.#wire.send(frameType.request, id, body);
    });
  }

  /** Handles an answer; late ones are ignored, as their caller already got an error. */
  hear(id: number, error: boolean, body: Body): void {
    const call = this.#end(id);
    if (call) {
      if (error) {
        call.reject(errorFrom(body));
      } else {
        call.resolve(body['r']);
      }
      this.#wire.settled();
    }
  }

  /** Fails all open calls: nobody will answer any more. */
  fail(error: SvcError): void {
    for (const { id } of this.#open) {
      this.#end(id)?.reject(error);
    }
  }

  #giveUp(id: number, error: unknown): void {
    const call = this.#end(id);
    if (call) {
      this.#wire.send(frameType.cancel, id);
      call.reject(error);
      this.#wire.settled();
    }
  }

  #end(id: number): OpenCall | undefined {
    const call = this.#open.find((open) => open.id === id);
    if (call) {
      this.#open = this.#open.filter((open) => open !== call);
      call.cancel();
      call.signal?.removeEventListener('abort', call.onAbort!);
    }
    return call;
  }
}

function writeRequest(request: object, maxBytes: number): string {
  let body: string;
  try {
    body = JSON.stringify(request);
  } catch (error) {
    throw errors.params_form({ cause: error });
  }
  const bytes = Buffer.byteLength(body);
  if (bytes > maxBytes) {
    throw errors.call_too_large({ maxBytes, bytes });
  }
  return body;
}
