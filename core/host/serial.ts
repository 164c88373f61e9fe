import { AsyncResource } from 'node:async_hooks';

/** Runs one piece of work at a time; everybody who asks while it runs shares the next run. */
export class Serial {
  readonly #work: () => Promise<void>;
  /** The work is everybody's: it must not run in the request or transaction of the one who asked first. */
  readonly #apart = new AsyncResource('svc.serial');
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves after a run that began after this call. */
  request(): Promise<void> {
    if (!this.#running) {
      return this.#begin();
    }
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    while (this.#running) {
      await (this.#next ?? this.#running).catch(() => undefined);
    }
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    this.#running = this.#apart.runInAsyncScope(this.#work).finally(() => {
      // With a next run chained, the slot stays taken, so that nobody can slip in between.
      if (!this.#next) {
        this.#running = undefined;
      }
    });
    return this.#running;
  }
}
