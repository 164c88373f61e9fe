import type { Clock, Tables } from 'svc/sdk';

/** A write that joins another one is only committed with that; none takes longer. */
const settledMs = 10_000;
/** What comes by no write of this generation, such as deliveries that another one has left, is found by then. */
const longestMs = 30_000;

/** Tables that know when they were written to, so that an idle house does not look into them five times a second. */
export class Lookout<T> implements Tables<T> {
  readonly #tables: Tables<T>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #writtenAt = -Infinity;

  constructor(tables: Tables<T>, clock: Pick<Clock, 'monotonic'>) {
    this.#tables = tables;
    this.#clock = clock;
  }

  get read(): Tables<T>['read'] {
    return this.#tables.read;
  }

  async write<R>(work: (tx: Tables<T>['read']) => Promise<R>): Promise<R> {
    try {
      return await this.#tables.write(work);
    } finally {
      this.#writtenAt = this.#clock.monotonic();
    }
  }

  /** `work` says whether it has left anything to do; where it has not, it is called again after a write, or after a while. */
  whileStirred(work: () => Promise<boolean>): () => Promise<void> {
    let idleSince: number | undefined;
    return async () => {
      const now = this.#clock.monotonic();
      if (idleSince !== undefined && now - idleSince < longestMs && idleSince - this.#writtenAt > settledMs) {
        return;
      }
      idleSince = undefined;
      if (!(await work())) {
        idleSince = now;
      }
    };
  }
}
