import { isSvcError, messageOf, SvcError } from 'svc/sdk';

import { Inflow, Outflow } from '../wire/flows.ts';
import type { FromChild, ToChild, WireError } from '../wire/wire.ts';
import { errors } from './errors.ts';

export interface CallOptions {
  /** Time limit of the pack; for a body, between two pieces of it. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Body of the request, sent as the pack reads it. */
  readonly body?: AsyncIterable<Uint8Array> | undefined;
  /** The answer is bytes, read as they come. */
  readonly bytes?: boolean | undefined;
}

export interface OpenCallParts extends CallOptions {
  readonly id: number;
  /** Name of what is late, for the caller's error. */
  readonly late: string;
  readonly say: (message: ToChild) => void;
  /** Called when nobody waits for it any more, while the child may still be working on it. */
  readonly onGivenUp: () => void;
}

/** A call that a process works on: who waits for it, until when, and the bodies that flow with it. */
export class OpenCall {
  readonly answer: Promise<unknown>;
  /** True if the caller has given up. */
  abandoned = false;
  readonly #parts: OpenCallParts;
  readonly #outflow: Outflow | undefined;
  #inflow: Inflow | undefined;
  #settle!: (outcome: { value: unknown } | { error: unknown }) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#giveUp(this.#parts.signal?.reason);

  constructor(parts: OpenCallParts) {
    this.#parts = parts;
    this.answer = new Promise((resolve, reject) => {
      this.#settle = (outcome) =>
        'error' in outcome ? reject(outcome.error) : resolve(outcome.value);
    });
    this.#timer = setTimeout(() => this.#late(), parts.timeoutMs);
    parts.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (parts.body) {
      this.#outflow = new Outflow();
    }
  }

  /** Sends the body of the request; to be called once the call itself was sent. */
  pour(): void {
    const { id, body, say } = this.#parts;
    const flowing =
      body &&
      this.#outflow?.pour(body, (bytes) => (this.#timer.refresh(), say({ t: 'piece', id, bytes })));
    flowing?.then(
      () => say({ t: 'piece', id }),
      (error: unknown) => say({ t: 'piece', id, error: told(error) }),
    );
  }

  /** Handles a reply; returns whether that was all of it. */
  reply({ value, error, streams }: FromChild & { t: 'reply' }): boolean {
    if (!streams || error !== undefined || this.abandoned) {
      this.end(error === undefined ? undefined : revived(error), value);
      return !streams;
    }
    const { id, say, bytes } = this.#parts;
    this.#inflow = new Inflow(
      (count) => say({ t: 'more', id, bytes: count }),
      () => this.#giveUp(undefined),
    );
    this.#timer.refresh();
    this.#settle(
      bytes === true
        ? { value: this.#inflow }
        : {
            error: errors.answered_bytes(),
          },
    );
    return false;
  }

  /** A piece of the answer, or its end. False: the child may not send this. */
  piece({ data, error }: FromChild & { t: 'piece' }): boolean {
    this.#timer.refresh();
    if (data === undefined) {
      this.end(error === undefined ? undefined : revived(error));
      return true;
    }
    return this.abandoned || this.#inflow?.push(Buffer.from(data, 'base64')) === true;
  }

  more(bytes: number): boolean {
    this.#timer.refresh();
    return this.#outflow?.more(bytes) === true;
  }

  /** Ends the call; nothing more arrives. */
  end(error: unknown, value?: unknown): void {
    clearTimeout(this.#timer);
    this.#parts.signal?.removeEventListener('abort', this.#onAbort);
    this.#outflow?.end();
    this.#inflow?.finish(
      error === undefined || error instanceof Error ? error : new Error(messageOf(error)),
    );
    this.#settle(error === undefined ? { value } : { error });
  }

  #late(): void {
    // Sending to the pack, or reading from it, has its own deadlines.
    if (this.#outflow?.isStarved === true || this.#inflow?.isUnread === true) {
      this.#timer.refresh();
      return;
    }
    this.#giveUp(
      new SvcError('unavailable', this.#parts.late, {
        reason: 'packs.no_answer',
        retryAfterSeconds: 1,
      }),
    );
  }

  #giveUp(error: unknown): void {
    this.abandoned = true;
    this.end(error);
    this.#parts.say({ t: 'cancel', id: this.#parts.id });
    this.#parts.onGivenUp();
  }
}

const revived = ({ code, message, reason }: WireError): SvcError =>
  new SvcError(code, message, reason === undefined ? {} : { reason });

const told = (error: unknown): WireError => ({
  code: isSvcError(error) ? error.code : 'internal',
  message: messageOf(error),
});
