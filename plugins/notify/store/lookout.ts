import type { Tables } from 'svc/sdk';

/** A write that joins another one is only committed with that: none takes as long as so many looks. Counted, since a process that was suspended has looked at nothing. */
const settledLooks = 50;
/**
 * Max time until changes are noticed that no write of this generation announced, such as deliveries
 * left by another one.
 */
const longestRest = 200;

/**
 * Tables that know when they were written to, so that an idle svc does not query them five times a
 * second.
 */
export class Lookout<T> implements Tables<T> {
  readonly #tables: Tables<T>;
  #writes = 0;

  constructor(tables: Tables<T>) {
    this.#tables = tables;
  }

  get read(): Tables<T>['read'] {
    return this.#tables.read;
  }

  async write<R>(work: (tx: Tables<T>['read']) => Promise<R>): Promise<R> {
    try {
      return await this.#tables.write(work);
    } finally {
      this.#writes += 1;
    }
  }

  /** `work` says whether it has left anything to do; once it has left nothing for a while, it rests until there is a write, or long enough. */
  whileStirred(work: () => Promise<boolean>): () => Promise<void> {
    let seen = this.#writes;
    let idle = 0;
    return async () => {
      const now = this.#writes;
      idle = seen !== now ? 0 : idle >= longestRest ? settledLooks - 1 : idle;
      seen = now;
      idle += 1;
      if (idle <= settledLooks && (await work())) {
        idle = 0;
      }
    };
  }
}
