import { createHash } from 'node:crypto';

import type { SvcError } from 'svc/sdk';
import { isSvcError, messageOf } from 'svc/sdk';

import { type Body, errorBody, text, whole } from '../message/body.ts';
import { errorFlag, frameType } from '../message/frames.ts';
import { longestCallMs } from '../message/limits.ts';
import type { InboundCall, TunnelMethod } from './contract.ts';
import { errors } from './errors.ts';
import type { Outcome } from './journal.ts';
import type { Wire } from './wire.ts';

/** One call at work. Most end before anybody looks at their signal, so that is made when somebody does. */
class Running {
  readonly outlives: boolean;
  #abort: AbortController | undefined;
  #reason: SvcError | undefined;

  constructor(outlives: boolean) {
    this.outlives = outlives;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#reason) {
        this.#abort.abort(this.#reason);
      }
    }
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  abort(reason: SvcError): void {
    this.#reason ??= reason;
    this.#abort?.abort(reason);
  }
}

/** The calls that the other side has asked and this side works on. */
export class InboundCalls {
  readonly #wire: Wire;
  readonly #running = new Map<number, Running>();
  #gone = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  get size(): number {
    return this.#running.size;
  }

  hear(id: number, body: Body): void {
    const name = text(body, 'm', 128);
    const timeoutMs = whole(body, 'dl', 1, longestCallMs);
    const key = body['i'] === undefined ? undefined : text(body, 'i', 128);
    const { limits, options, session } = this.#wire;
    const method = options.handlers?.methods?.get(name);
    if (this.#running.size >= limits.calls) {
      this.#refuse(id, errors.busy({ calls: limits.calls }, { retryAfterSeconds: 1 }));
    } else if (!method) {
      this.#refuse(id, errors.no_method({ name }));
    } else if (method.mutating && key === undefined) {
      this.#refuse(id, errors.no_idempotency_key({ name }));
    } else if (session.live) {
      void this.#answer(id, name, method, body['p'], timeoutMs, key);
    }
  }

  cancel(id: number): void {
    this.#running.get(id)?.abort(errors.cancelled());
  }

  /** The connection is gone: readings end, commands go on and their outcome waits in the journal. */
  fail(error: SvcError): void {
    this.#gone = true;
    for (const running of this.#running.values()) {
      if (!running.outlives) {
        running.abort(error);
      }
    }
  }

  async #answer(
    id: number,
    name: string,
    method: TunnelMethod,
    params: unknown,
    timeoutMs: number,
    key: string | undefined,
  ): Promise<void> {
    const { options, session } = this.#wire;
    const running = new Running(method.mutating === true);
    this.#running.set(id, running);
    const cancel = options.sweeper.after(timeoutMs, () => running.abort(errors.deadline()));
    const call: InboundCall = {
      timeoutMs,
      session,
      idempotencyKey: key,
      get signal() {
        return running.signal;
      },
    };
    const work = async (): Promise<Outcome> => {
      try {
        return { result: await method.handle(params, call) };
      } catch (error) {
        if (!isSvcError(error) && !running.aborted) {
          options.log.error(
            {
              event: 'tunnel.method_failed',
              tunnel: options.label,
              method: name,
              cause: messageOf(error),
            },
            'method threw; returned an error to the caller',
          );
        }
        return { error: errorBody(error) };
      }
    };
    const outcome = method.mutating ? await this.#once(name, params, key!, work) : await work();
    cancel();
    this.#running.delete(id);
    if (!this.#gone && !running.aborted) {
      this.#reply(id, outcome);
    }
    this.#wire.settled();
  }

  async #once(
    name: string,
    params: unknown,
    key: string,
    work: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const { journal, log, label } = this.#wire.options;
    try {
      if (!journal) {
        throw new Error('this side has a mutating method but no journal');
      }
      const fingerprint = createHash('sha256')
        .update(JSON.stringify([name, params ?? null]))
        .digest('base64url');
      return await journal.run(key, fingerprint, work);
    } catch (error) {
      if (!isSvcError(error)) {
        log.error(
          { event: 'tunnel.journal_failed', tunnel: label, method: name, cause: messageOf(error) },
          'failed to write the command journal; no commands run until it succeeds',
        );
      }
      return {
        error: errorBody(isSvcError(error) ? error : errors.journal_not_written()),
      };
    }
  }

  #reply(id: number, outcome: Outcome): void {
    const { bodyBytes } = this.#wire.limits;
    if ('error' in outcome) {
      this.#wire.send(frameType.response, id, JSON.stringify(outcome.error), errorFlag);
      return;
    }
    let body: string;
    try {
      body = JSON.stringify({ r: outcome.result });
    } catch (error) {
      this.#wire.options.log.error(
        {
          event: 'tunnel.result_no_json',
          tunnel: this.#wire.options.label,
          cause: messageOf(error),
        },
        'failed to encode a method result as JSON; returned an error to the caller',
      );
      this.#refuse(id, error);
      return;
    }
    const bytes = Buffer.byteLength(body);
    if (bytes > bodyBytes) {
      this.#refuse(id, errors.answer_too_large({ bytes, bodyBytes }));
    } else {
      this.#wire.send(frameType.response, id, body);
    }
  }

  #refuse(id: number, error: unknown): void {
    this.#wire.send(frameType.response, id, JSON.stringify(errorBody(error)), errorFlag);
  }
}
