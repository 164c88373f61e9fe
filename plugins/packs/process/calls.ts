import { serialize } from 'node:v8';

import { messageOf } from 'svc/sdk';

import { frame } from '../wire/frames.ts';
import type { FromChild, ToChild } from '../wire/wire.ts';
import { errors } from './errors.ts';
import { type CallOptions, OpenCall } from './open-call.ts';

export interface CallLimits {
  /** Calls that may be open at once, those included whose caller has given up. */
  readonly maxCalls: number;
  readonly maxPayloadBytes: number;
}

/** The calls that one process works on. */
export class Calls {
  readonly #label: string;
  readonly #limits: CallLimits;
  readonly #send: (framed: Buffer) => void;
  readonly #onStuck: (cause: string) => void;
  readonly #open = new Map<number, OpenCall>();
  #last = 0;

  /**
   * Takes callbacks; `onStuck` is called when every slot is taken by a call whose caller has long
   * given up.
   */
  constructor(
    label: string,
    limits: CallLimits,
    send: (framed: Buffer) => void,
    onStuck: (cause: string) => void,
  ) {
    this.#label = label;
    this.#limits = limits;
    this.#send = send;
    this.#onStuck = onStuck;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Rejects with the child's own error, or unavailable when it is late, full or gone. An answer of bytes is iterated. */
  call(method: string, input: unknown, options: CallOptions): Promise<unknown> {
    const { timeoutMs, signal, body, bytes } = options;
    signal?.throwIfAborted();
    if (this.#open.size >= this.#limits.maxCalls) {
      throw errors.busy(
        { label: this.#label, maxCalls: this.#limits.maxCalls },
        { retryAfterSeconds: 1 },
      );
    }
    const id = (this.#last += 1);
    const framed = this.#frameOf({
      t: 'call',
      id,
      method,
      input,
      ...(body && { hasBody: true }),
      ...(bytes && { bytes }),
    });
    const call = new OpenCall({
      ...options,
      id,
      late: `${this.#label} did not respond to ${method} within ${timeoutMs} ms`,
      say: (message) => this.#send(frame(serialize(message))),
      onGivenUp: () => this.#lookForStuck(),
    });
    this.#open.set(id, call);
    this.#send(framed);
    call.pour();
    return call.answer;
  }

  /** False when nothing was asked that this could answer. */
  hear(message: FromChild & { t: 'reply' | 'piece' | 'more' }): boolean {
    const { id } = message;
    const call = this.#open.get(id);
    switch (message.t) {
      case 'reply':
        if (call?.reply(message) === true) {
          this.#open.delete(id);
        }
        return call !== undefined;
      case 'piece':
        if (message.data === undefined) {
          this.#open.delete(id);
        }
        return call?.piece(message) === true;
      case 'more':
        return call?.more(message.bytes) === true;
    }
  }

  /** The process is gone: no answer will come. */
  end(cause: string): void {
    for (const call of this.#open.values()) {
      call.end(errors.ended_during_call({ label: this.#label, cause }, { retryAfterSeconds: 5 }));
    }
    this.#open.clear();
  }

  #lookForStuck(): void {
    if (
      this.#open.size >= this.#limits.maxCalls &&
      [...this.#open.values()].every(({ abandoned }) => abandoned)
    ) {
      this.#onStuck(`${this.#open.size} calls never ended, also after their deadline`);
    }
  }

  #frameOf(message: ToChild): Buffer {
    const body = this.#serialized(message);
    if (body.byteLength > this.#limits.maxPayloadBytes) {
      throw errors.call_too_large({
        label: this.#label,
        maxPayloadBytes: this.#limits.maxPayloadBytes,
        byteLength: body.byteLength,
      });
    }
    return frame(body);
  }

  #serialized(message: ToChild): Buffer {
    try {
      return serialize(message);
    } catch (error) {
      throw errors.call_not_plain(
        { label: this.#label, cause: messageOf(error) },
        { cause: error },
      );
    }
  }
}
