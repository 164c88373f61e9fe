/** Repeated and deferred work of a thread, until it closes. */
export class Repeats {
  readonly #onError: (where: string, error: unknown) => void;
  readonly #running = new Set<Running>();
  #ended = false;

  constructor(onError: (where: string, error: unknown) => void) {
    this.#onError = onError;
  }

  every(ms: number, work: (signal: AbortSignal) => unknown): () => void {
    return this.#begin(`every ${ms} ms`, ms, work, true);
  }

  after(ms: number, work: (signal: AbortSignal) => unknown): () => void {
    return this.#begin(`after ${ms} ms`, ms, work, false);
  }

  /** Resolves once nothing runs any more; whatever is begun afterwards never runs. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#running].map((running) => running.stop()));
  }

  #begin(
    when: string,
    ms: number,
    work: (signal: AbortSignal) => unknown,
    repeat: boolean,
  ): () => void {
    if (this.#ended) {
      return () => undefined;
    }
    const where = work.name === '' ? when : `${work.name} (${when})`;
    const running = new Running(ms, work, repeat, (error) => this.#onError(where, error));
    this.#running.add(running);
    void running.over.then(() => this.#running.delete(running));
    return () => void running.stop();
  }
}

/** One piece of repeated work: the next wait starts when the last run has ended. */
class Running {
  readonly over: Promise<void>;
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #finish!: () => void;
  #atWork = false;

  constructor(
    ms: number,
    work: (signal: AbortSignal) => unknown,
    repeat: boolean,
    onError: (error: unknown) => void,
  ) {
    this.over = new Promise((resolve) => (this.#finish = resolve));
    const run = async (): Promise<void> => {
      this.#atWork = true;
      try {
        await work(this.#abort.signal);
      } catch (error) {
        if (!this.#abort.signal.aborted) {
          onError(error);
        }
      }
      this.#atWork = false;
      if (repeat && !this.#abort.signal.aborted) {
        wait();
      } else {
        this.#finish();
      }
    };
    const wait = (): void => void (this.#timer = setTimeout(() => void run(), ms));
    wait();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    if (!this.#atWork) {
      this.#finish();
    }
    await this.over;
  }
}
