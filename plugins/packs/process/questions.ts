import { setTimeout as sleep } from 'node:timers/promises';
import { serialize } from 'node:v8';

import { type Clock, isSvcError, messageOf } from 'svc/sdk';

import { frame } from '../wire/frames.ts';
import { type FromChild, maxAsks, type ToChild } from '../wire/wire.ts';
import { errors } from './errors.ts';

export interface QuestionsParts {
  readonly serve: (method: string, input: unknown) => Promise<unknown>;
  readonly send: (framed: Buffer) => void;
  readonly clock: Clock;
}

/** Max size of an answer: above that of the outbound fetch, and of table rows. */
const maxAnswerBytes = 5 * 1024 * 1024;

/**
 * Rate and burst of requests by one pack; more than that waits, and delays nothing but the pack.
 */
const perSecond = 1_000;
const atOnce = 2_000;

/** Requests of a process to svc: few at a time, rate-limited, with answers of bounded size. */
export class Questions {
  readonly #parts: QuestionsParts;
  #open = 0;
  #allowed = atOnce;
  #countedAt: number;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
    this.#countedAt = parts.clock.monotonic();
  }

  /** False: more than it may ask at once. */
  hear(ask: FromChild & { t: 'ask' }): boolean {
    if (this.#open >= maxAsks) {
      return false;
    }
    void this.#answer(ask);
    return true;
  }

  async #answer({ id, method, input }: FromChild & { t: 'ask' }): Promise<void> {
    const { serve, send } = this.#parts;
    this.#open += 1;
    try {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        await sleep(waitMs, undefined, { ref: false });
      }
      const framed = serialize({
        t: 'answer',
        id,
        value: await serve(method, input),
      } satisfies ToChild);
      if (framed.byteLength > maxAnswerBytes) {
        throw errors.answer_too_large({ method, byteLength: framed.byteLength, maxAnswerBytes });
      }
      send(frame(framed));
    } catch (error) {
      send(
        frame(
          serialize({
            t: 'answer',
            id,
            error: { code: isSvcError(error) ? error.code : 'internal', message: messageOf(error) },
          } satisfies ToChild),
        ),
      );
    } finally {
      this.#open -= 1;
    }
  }

  #waitMs(): number {
    const now = this.#parts.clock.monotonic();
    this.#allowed =
      Math.min(atOnce, this.#allowed + ((now - this.#countedAt) * perSecond) / 1_000) - 1;
    this.#countedAt = now;
    return this.#allowed >= 0 ? 0 : Math.ceil((-this.#allowed * 1_000) / perSecond);
  }
}
