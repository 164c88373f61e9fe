export interface GateRules {
  /** Pieces of work that run at the same time. */
  readonly atOnce: number;
  /** Max tasks that may wait for their turn. */
  readonly waiting: number;
  /** Returns the error for a task beyond that. */
  readonly full: (load: { readonly running: number; readonly waiting: number }) => Error;
  /** Returns the error for work whose signal aborts before its turn. */
  readonly canceled?: () => Error;
}

/** Lets a few pieces of work run at the same time, first come first served, and some more wait. */
export class ConcurrencyGate {
  readonly #rules: GateRules;
  readonly #line = new Set<() => void>();
  #running = 0;

  constructor(rules: GateRules) {
    this.#rules = rules;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#line.size;
  }

  /** Runs `work` when it is its turn. A signal that aborts while it waits takes it out of the line. */
  async run<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted === true) {
      throw this.#canceled(signal);
    }
    if (this.#running < this.#rules.atOnce) {
      this.#running++;
    } else if (this.#line.size < this.#rules.waiting) {
      await this.#turn(signal);
    } else {
      throw this.#rules.full(this);
    }
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#line.delete(enter);
        reject(this.#canceled(signal!));
      };
      const enter = (): void => {
        this.#line.delete(enter);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      this.#line.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** A place that becomes free is handed on, never offered: what comes later cannot take it from the first in line. */
  #handOn(): void {
    const [next] = this.#line;
    if (next === undefined) {
      this.#running--;
    } else {
      next();
    }
  }

  #canceled(signal: AbortSignal): unknown {
    return this.#rules.canceled?.() ?? signal.reason;
  }
}
