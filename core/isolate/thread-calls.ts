import { messageOf } from '../sdk/index.ts';
import { errors } from './errors.ts';
import type { ToThread } from './thread-wire.ts';

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A call that is waited for, whether a thread works on it yet or not. */
export class Ticket {
  readonly method: string;
  readonly input: unknown;
  readonly transfer: readonly ArrayBuffer[];
  readonly timeoutMs: number;
  readonly result: Promise<unknown>;
  /** Called when the caller gives up, for the current holder of the ticket. */
  onGivenUp: () => void = () => undefined;
  readonly #settle: (outcome: Outcome) => void;
  #open = true;

  constructor(
    method: string,
    input: unknown,
    {
      timeoutMs,
      signal,
      transfer,
    }: { timeoutMs: number; signal: AbortSignal | undefined; transfer: readonly ArrayBuffer[] },
    late: () => Error,
  ) {
    this.method = method;
    this.input = input;
    this.transfer = transfer;
    this.timeoutMs = timeoutMs;
    let settle!: (outcome: Outcome) => void;
    this.result = new Promise((resolve, reject) => {
      settle = (outcome) => ('error' in outcome ? reject(outcome.error) : resolve(outcome.value));
    });
    const timer = setTimeout(() => this.#giveUp(late()), timeoutMs);
    const onAbort = (): void => this.#giveUp(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#settle = (outcome) => {
      this.#open = false;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      settle(outcome);
    };
  }

  settle(outcome: Outcome): void {
    if (this.#open) {
      this.#settle(outcome);
    }
  }

  #giveUp(error: unknown): void {
    this.settle({ error });
    this.onGivenUp();
  }
}

/** The calls that one thread works on, those included whose caller has given up. */
export class ThreadCalls {
  readonly #label: string;
  readonly #skewMs: () => number;
  readonly #send: (message: ToThread, transfer?: readonly ArrayBuffer[]) => void;
  readonly #open = new Map<number, Ticket>();
  #last = 0;

  constructor(
    label: string,
    skewMs: () => number,
    send: (message: ToThread, transfer?: readonly ArrayBuffer[]) => void,
  ) {
    this.#label = label;
    this.#skewMs = skewMs;
    this.#send = send;
  }

  get size(): number {
    return this.#open.size;
  }

  send(ticket: Ticket): void {
    const id = (this.#last += 1);
    try {
      this.#send(
        { t: 'call', id, method: ticket.method, input: ticket.input, skewMs: this.#skewMs() },
        ticket.transfer,
      );
    } catch (error) {
      ticket.settle({
        error: new Error(
          `${ticket.method} of ${this.#label} accepts only plain data: ${messageOf(error)}`,
          { cause: error },
        ),
      });
      return;
    }
    this.#open.set(id, ticket);
    ticket.onGivenUp = () => this.#send({ t: 'cancel', id });
  }

  hear(id: number, outcome: Outcome): void {
    const ticket = this.#open.get(id);
    this.#open.delete(id);
    ticket?.settle(outcome);
  }

  /** The thread is gone: no answer will come. */
  end(cause: string): void {
    for (const ticket of this.#open.values()) {
      ticket.settle({
        error: errors.thread_lost(
          { label: this.#label, cause },
          {
            retryAfterSeconds: 5,
          },
        ),
      });
    }
    this.#open.clear();
  }
}
