/** Schedules `work` after `ms`; returns a function that cancels it. */
export type After = (ms: number, work: () => void) => () => void;

/**
 * Outcome of a call: its value, its error, or that it did not return (`stuck`), or that nothing was
 * free to make it (`busy`).
 */
export type CallOutcome<T> =
  | { readonly state: 'done'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'stuck' | 'busy' };

export interface SlowCallsOptions {
  /** Calls that may be under way at once, those that hang among them. */
  readonly slots: number;
  readonly deadlineMs: number;
  readonly after: After;
}

/**
 * Calls that the kernel may never answer, such as asking a dead file server for its usage. Each
 * holds a thread of the runtime until it returns, and there are few: calls in progress are counted,
 * and a hanging key is not asked again until it returns.
 */
export class SlowCalls {
  readonly #options: SlowCallsOptions;
  readonly #stuck = new Set<string>();
  #held = 0;
  /** Waiters for a slot, called with true once they have it. */
  readonly #waiting: ((slot: boolean) => void)[] = [];

  constructor(options: SlowCallsOptions) {
    this.#options = options;
  }

  /** Keys of calls that have missed their deadline and are still under way. */
  get stuck(): ReadonlySet<string> {
    return this.#stuck;
  }

  get held(): number {
    return this.#held;
  }

  async run<T>(key: string, call: () => Promise<T>): Promise<CallOutcome<T>> {
    if (this.#stuck.has(key)) {
      return { state: 'stuck' };
    }
    if (!(await this.#slot())) {
      return { state: 'busy' };
    }
    return this.#watched(key, call);
  }

  /** Waits for a slot no longer than a call may take: after that its holder hangs. */
  async #slot(): Promise<boolean> {
    if (this.#held < this.#options.slots) {
      this.#held++;
      return true;
    }
    if (this.#stuck.size >= this.#options.slots) {
      return false;
    }
    return new Promise((resolve) => {
      const enter = (slot: boolean): void => {
        cancel();
        resolve(slot);
      };
      const cancel = this.#options.after(this.#options.deadlineMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        resolve(false);
      });
      this.#waiting.push(enter);
    });
  }

  #watched<T>(key: string, call: () => Promise<T>): Promise<CallOutcome<T>> {
    return new Promise((resolve) => {
      const cancel = this.#options.after(this.#options.deadlineMs, () => {
        this.#stuck.add(key);
        resolve({ state: 'stuck' });
      });
      const returned = (outcome: CallOutcome<T>): void => {
        cancel();
        this.#stuck.delete(key);
        this.#release();
        resolve(outcome);
      };
      call().then(
        (value) => returned({ state: 'done', value }),
        (error: unknown) => returned({ state: 'failed', error }),
      );
    });
  }

  /** Passes the slot on directly, so that no later caller overtakes. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) {
      next(true);
    } else {
      this.#held--;
    }
  }
}
