import type { ModelEffort, ModelPart, ModelRequest, Models, ModelUsage } from 'svc/contracts/model';
import { type Clock, type Counter, isSvcError, type Logger } from 'svc/sdk';

import type { Budget, Held } from './budget/budget.ts';
import { errors } from './errors.ts';
import { type Chosen, type ModelCatalogue, roomToThink } from './providers/catalogue.ts';
import { estimatedTokens, tokenBound } from './wire/tokens.ts';

export interface CallPorts {
  readonly catalogue: ModelCatalogue;
  readonly budget: Budget;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: () => number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly tokens: Counter;
  readonly requests: Counter;
}

/** Tries at one model, the first included. */
const tries = 4;
/** Tries at one that accepts the request and then says nothing. */
const triesInSilence = 2;
/** Share of the first silence that is waited for the second time. */
const secondPatience = 0.25;
const firstWaitMs = 500;
/**
 * Max characters per token, as some providers do not support max_tokens; no tokenizer exceeds it,
 * except for runs of spaces.
 */
const maxCharactersAToken = 12;
const slack = 4_000;
/** Short enough for a person, long enough for a model that has to be loaded first. */
const leastPatienceMs = 5_000;
/** A provider that asks for more is not waited for. */
const longestWaitMs = 30_000;

/** Calls of models: reserved, tried again while nothing was answered yet, settled whatever comes. */
export class ModelCalls implements Models {
  readonly #ports: CallPorts;

  constructor(ports: CallPorts) {
    this.#ports = ports;
  }

  usable(model: string, effort?: ModelEffort): ReturnType<Models['usable']> {
    return this.#ports.catalogue.usable(model, effort);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const { catalogue, log } = this.#ports;
    const first = catalogue.choose(request.model);
    let trouble: unknown;
    for (const chosen of [first, ...catalogue.fallbacksOf(first.id)]) {
      const progress = { answered: false };
      try {
        yield* this.#withRetries({ ...request, model: chosen.id }, chosen, progress);
        return;
      } catch (error) {
        if (
          progress.answered ||
          request.signal.aborted ||
          !isSvcError(error) ||
          error.code !== 'upstream_error'
        ) {
          throw error;
        }
        // The first model's trouble is the one to mend.
        trouble ??= error;
        log.warn(
          { event: 'model.failed', model: chosen.id, cause: error.message },
          'model call failed; trying the next fallback model, if any',
        );
      }
    }
    throw trouble;
  }

  async *#withRetries(
    request: ModelRequest,
    chosen: Chosen,
    progress: { answered: boolean },
  ): AsyncGenerator<ModelPart> {
    let silent = 0;
    let patienceMs: number | undefined;
    for (let left = tries - 1; ; left--) {
      const began = this.#ports.clock.monotonic();
      try {
        yield* this.#once({ ...request, patienceMs }, chosen, progress);
        return;
      } catch (error) {
        if (isSvcError(error) && error.reason === 'model.unanswered') {
          silent += 1;
          patienceMs = Math.max(
            leastPatienceMs,
            (this.#ports.clock.monotonic() - began) * secondPatience,
          );
        }
        const again =
          !progress.answered &&
          !request.signal.aborted &&
          left > 0 &&
          silent < triesInSilence &&
          isSvcError(error)
            ? error.retryAfterSeconds
            : undefined;
        if (
          again === undefined ||
          again * 1_000 > longestWaitMs ||
          (isSvcError(error) && error.code !== 'upstream_error')
        ) {
          throw error;
        }
        const backOff = firstWaitMs * 2 ** (tries - 1 - left) * (0.5 + this.#ports.random() / 2);
        await this.#ports.pause(Math.max(backOff, again > 1 ? again * 1_000 : 0), request.signal);
      }
    }
  }

  /** One request at the provider, charged as it ends. */
  async *#once(
    request: ModelRequest & { readonly patienceMs: number | undefined },
    { provider, id }: Chosen,
    progress: { answered: boolean },
  ): AsyncGenerator<ModelPart> {
    const { budget, log } = this.#ports;
    const thinking = roomToThink(provider, id, request.effort);
    const whole = { ...request, maxTokens: request.maxTokens + thinking };
    const held = await budget.reserve(whole, id, request.signal);
    const bill = new Bill(whole, held);
    try {
      if (request.signal.aborted) {
        throw errors.stopped();
      }
      bill.sent();
      for await (const part of provider.stream({
        ...request,
        id: held.id,
        maxTokens: held.maxTokens,
      })) {
        bill.add(part);
        const isEndless =
          part.type !== 'end' && bill.characters > held.maxTokens * maxCharactersAToken + slack;
        const next: ModelPart = isEndless
          ? { type: 'end', finish: 'length', usage: bill.estimate(), model: id }
          : part.type === 'end'
            ? { ...part, usage: bill.usage ?? part.usage }
            : part;
        if (part.type === 'end' && bill.usage !== part.usage) {
          log.warn(
            { event: 'model.usage_absurd', model: id, ...part.usage },
            'provider reported an impossible token count; using an estimate instead',
          );
        }
        progress.answered = true;
        if (next.type === 'end') {
          // On disk before anybody acts on the answer.
          await this.#charge(bill, id);
        }
        yield next;
        if (isEndless) {
          log.warn(
            { event: 'model.endless', model: id, tokens: held.maxTokens },
            'model exceeded max_tokens; response truncated',
          );
          return;
        }
      }
    } catch (error) {
      bill.failed(error);
      throw error;
    } finally {
      await this.#charge(bill, id);
    }
  }

  async #charge(bill: Bill, model: string): Promise<void> {
    const usage = await bill.settle();
    if (usage !== undefined) {
      const { tokens, requests } = this.#ports;
      requests.add(1, {
        model,
        outcome: bill.ended ? 'answered' : usage === null ? 'refused' : 'broken',
      });
      tokens.add(usage?.input_tokens ?? 0, { model, direction: 'input' });
      tokens.add(usage?.output_tokens ?? 0, { model, direction: 'output' });
    }
  }
}

/**
 * Cost of one request: what the provider reports, otherwise an estimate from what was sent and
 * received.
 */
class Bill {
  readonly #request: ModelRequest;
  readonly #held: Held;
  #usage: ModelUsage | undefined;
  #isSent = false;
  #written = '';
  #isRefused = false;
  #isSettled = false;

  constructor(request: ModelRequest, held: Held) {
    this.#request = request;
    this.#held = held;
  }

  get usage(): ModelUsage | undefined {
    return this.#usage;
  }

  get ended(): boolean {
    return this.#usage !== undefined;
  }

  get characters(): number {
    return this.#written.length;
  }

  sent(): void {
    this.#isSent = true;
  }

  add(part: ModelPart): void {
    if (part.type === 'end') {
      this.#usage = this.#isCredible(part.usage) ? part.usage : this.estimate();
    } else if (part.type !== 'call' && part.type !== 'call-start') {
      this.#written += part.delta;
    }
  }

  /** Figures far beyond what was sent and asked for would stop the day for everybody. */
  #isCredible({ input_tokens: input, output_tokens: output }: ModelUsage): boolean {
    const most = (tokens: number): number => tokens * absurdFactor + absurdSlack;
    return (
      isCount(input) &&
      isCount(output) &&
      input <= most(tokenBound(this.#request)) &&
      output <= most(this.#request.maxTokens)
    );
  }

  /** An answer with a status, or no connection: the provider did no work that it could charge. */
  failed(error: unknown): void {
    this.#isRefused =
      this.#written === '' && isSvcError(error) && !doubtful.has(error.reason ?? '');
  }

  estimate(): ModelUsage {
    return {
      input_tokens: estimatedTokens(this.#request),
      output_tokens: estimatedTokens(this.#written),
      cached_tokens: 0,
      estimated: true,
    };
  }

  /** Settles once: returns what was charged, null for nothing; undefined the second time. */
  async settle(): Promise<ModelUsage | null | undefined> {
    if (this.#isSettled) {
      return undefined;
    }
    this.#isSettled = true;
    const free = !this.#isSent || this.#isRefused;
    const usage = this.#usage ?? (free ? undefined : this.estimate());
    await this.#held.settle(usage);
    return usage ?? null;
  }
}

const absurdFactor = 4;
/** Tokens that vendors add to a request on their own, such as their words about tools. */
const absurdSlack = 20_000;
const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** Errors after which the provider may still have done the work. */
const doubtful: ReadonlySet<string> = new Set([
  'model.unanswered',
  'model.broken_stream',
  'model.silent',
  'outbound.stopped',
  'outbound.reply_too_large',
]);
