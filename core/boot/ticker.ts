import { type Logger, messageOf } from '../sdk/index.ts';

/** The house's own regular work. An error is logged and the next tick still comes. */
export function every(ms: number, what: string, work: () => Promise<void>, log: Logger): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .catch((error: unknown) => log.error({ error }, `${what} failed: ${messageOf(error)}`))
      .finally(() => {
        running = undefined;
      });
  }, ms);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
