import { type Logger, messageOf } from '../sdk/index.ts';

/** Remembers how to take down what was built, and does it last-built first, once. */
export class TakeDown {
  readonly #steps: (() => unknown)[] = [];
  #running: Promise<void> | undefined;

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Does every step even when one fails, then throws the first failure; asked again, it answers as the first time. */
  run(): Promise<void> {
    return (this.#running ??= this.#run());
  }

  async #run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) {
      throw failures[0];
    }
  }
}

/** Regular work of core itself. An error is logged and the next tick still comes. */
export function every(
  ms: number,
  what: string,
  work: () => Promise<void>,
  log: Logger,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .catch((error: unknown) =>
        log.error({ event: 'boot.task_failed', error }, `${what} failed: ${messageOf(error)}`),
      )
      .finally(() => (running = undefined));
  }, ms);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
