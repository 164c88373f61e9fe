import {
  type Clock,
  type DeliveryPolicy,
  type Logger,
  messageOf,
  type OutboxMessage,
  SvcError,
  withDeadline,
} from '../sdk/index.ts';
import { type Due, longestBackoffMs, type Settled } from './rows.ts';

/** On whose account a topic is handled. */
export interface Account {
  /** Runs one try pinned in the owner's scope; rejects with the error of `work`. */
  run(label: string, work: () => Promise<void>): Promise<void>;
  /** Whether this generation is the one that serves: committed, not retired. */
  serves(): boolean;
}

export interface TryOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Hides secrets in what is kept of an error. */
  readonly redact: (text: string) => string;
  readonly random: () => number;
}

type AnyPolicy = Required<Omit<DeliveryPolicy<unknown>, 'exhausted'>> &
  Pick<DeliveryPolicy<unknown>, 'exhausted'>;

const defaults = { attempts: 5, timeoutMs: 30_000, backoffMs: 1_000 };

const maxError = 1_000;

/** How one generation handles one topic. */
export class TopicHandler {
  readonly topic: string;
  readonly policy: AnyPolicy;
  readonly #handler: (message: OutboxMessage<unknown>, signal: AbortSignal) => Promise<void>;
  readonly #account: Account;
  readonly #options: TryOptions;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(
    topic: string,
    handler: (message: OutboxMessage<unknown>, signal: AbortSignal) => Promise<void>,
    policy: DeliveryPolicy<unknown>,
    account: Account,
    options: TryOptions,
  ) {
    this.topic = topic;
    this.policy = { ...defaults, ...policy };
    this.#handler = handler;
    this.#account = account;
    this.#options = options;
  }

  get serves(): boolean {
    return !this.#stop.signal.aborted && this.#account.serves();
  }

  /** One try with its deadline. Never rejects. */
  try(due: Due): Promise<Settled> {
    const running = this.#tried(due);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    return running;
  }

  /** Tells running tries to end and waits for them; what they leave is tried again by whoever comes next. */
  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  async #tried(due: Due): Promise<Settled> {
    const { attempts, timeoutMs } = this.policy;
    const attempt = due.attempt + 1;
    const message = {
      id: due.id,
      topic: due.topic,
      attempt: Math.min(attempt, attempts),
      enqueuedAt: due.enqueued_at,
    };
    try {
      const payload: unknown = JSON.parse(due.payload);
      if (attempt > attempts) {
        return await this.#exhausted(
          { ...message, payload },
          'the process ended during the last try',
        );
      }
      // Not AbortSignal.any: Node keeps such a signal, and all that listens to it, for ever.
      const late = new AbortController();
      const stop = (): void => late.abort(this.#stop.signal.reason);
      this.#stop.signal.addEventListener('abort', stop);
      try {
        const handled = this.#account.run(`deliver ${due.topic}`, () =>
          this.#handler({ ...message, payload }, late.signal),
        );
        await withDeadline(handled, timeoutMs, () =>
          Promise.reject(new HandlerLate(due.topic, timeoutMs)),
        );
        return { id: due.id, outcome: 'delivered' };
      } catch (error) {
        late.abort(error);
        return await this.#failed({ ...message, payload }, error);
      } finally {
        this.#stop.signal.removeEventListener('abort', stop);
      }
    } catch (error) {
      // The payload is not JSON: the row was changed by hand, and no further try will read it better.
      return { id: due.id, outcome: 'failed', error: this.#kept(error) };
    }
  }

  async #failed(message: OutboxMessage<unknown>, error: unknown): Promise<Settled> {
    const { id, attempt } = message;
    const cause = this.#kept(error);
    if (!this.serves) {
      // The generation left in the middle of the try: that is no fault of the message.
      return {
        id,
        outcome: 'again',
        attempt: attempt - 1,
        dueAt: this.#options.clock.now(),
        error: cause,
      };
    }
    if (attempt >= this.policy.attempts) {
      return await this.#exhausted(message, cause);
    }
    const dueAt = this.#options.clock.now() + this.#backoff(attempt);
    this.#options.log.warn(
      {
        event: 'outbox.try_failed',
        topic: this.topic,
        message: id,
        attempt,
        retry_at: dueAt,
        error,
        cause,
      },
      'could not deliver an outbox message; it is tried again',
    );
    return { id, outcome: 'again', attempt, dueAt, error: cause };
  }

  /** The owner hears of it before the row says so: a crash in between tells it twice, never not at all. */
  async #exhausted(message: OutboxMessage<unknown>, cause: string): Promise<Settled> {
    this.#options.log.error(
      {
        event: 'outbox.gave_up',
        topic: this.topic,
        message: message.id,
        attempts: this.policy.attempts,
        cause,
      },
      'gave up on an outbox message; its row stays as failed',
    );
    try {
      const { exhausted, timeoutMs } = this.policy;
      const noted = this.#account.run(`give up ${this.topic}`, async () => {
        await exhausted?.(message, cause);
      });
      await withDeadline(noted, timeoutMs, () =>
        Promise.reject(new HandlerLate(this.topic, timeoutMs)),
      );
    } catch (error) {
      this.#options.log.error(
        {
          event: 'outbox.exhausted_failed',
          topic: this.topic,
          message: message.id,
          error,
          cause: messageOf(error),
        },
        'the plugin could not record that its outbox message failed',
      );
    }
    return { id: message.id, outcome: 'failed', error: cause };
  }

  /** Full jitter, so that what failed together does not come back together. */
  #backoff(attempt: number): number {
    return Math.ceil(
      this.#options.random() *
        Math.min(longestBackoffMs, this.policy.backoffMs * 2 ** (attempt - 1)),
    );
  }

  #kept(error: unknown): string {
    return this.#options.redact(messageOf(error)).slice(0, maxError);
  }
}

class HandlerLate extends SvcError {
  constructor(topic: string, ms: number) {
    super('unavailable', `the handler of ${topic} did not finish within ${ms} ms`, {
      reason: 'outbox.handler_late',
    });
  }
}
