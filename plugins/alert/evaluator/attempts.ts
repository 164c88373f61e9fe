import { type Clock, type Logger, messageOf } from 'svc/sdk';

/** Work of the evaluator whose last attempts have failed. */
export interface FailingWork {
  readonly what: string;
  readonly error: string;
  readonly failures: number;
  readonly since: number;
}

export interface AttemptsParts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Work that the evaluator repeats: what fails is logged and done again at the next turn, and remembered until it succeeds. */
export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #failing = new Map<string, FailingWork>();

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
  }

  get failing(): Iterable<FailingWork> {
    return this.#failing.values();
  }

  async run(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.#failing.delete(what);
    } catch (cause) {
      const error = messageOf(cause);
      const before = this.#failing.get(what);
      this.#failing.set(what, {
        what,
        error,
        failures: (before?.failures ?? 0) + 1,
        since: before?.since ?? this.#parts.clock.now(),
      });
      this.#parts.log.warn(
        { event: 'alert.attempt_failed', cause: error },
        `alert evaluator failed to ${what}; retrying`,
      );
    }
  }
}
