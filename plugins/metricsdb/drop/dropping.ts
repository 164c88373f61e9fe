import { createHash } from 'node:crypto';

import type { Clock, Scope, ThreadHandle } from 'svc/sdk';

import type { Driver } from '../drivers/driver.ts';
import type { DropAsked, DropCount, Pairs } from '../thread/contract.ts';
import type { Drop } from '../store/drop/drop-table.ts';
import { errors } from './errors.ts';

export interface DroppingParts {
  readonly thread: ThreadHandle;
  readonly driver: () => Driver;
  readonly clock: Clock;
  readonly scope: Pick<Scope, 'timeout' | 'signal'>;
}

/** Interval at which a caller that waits for a drop looks how far it is. */
const lookMs = 200;
const countMs = 60_000;

/** Deletes series of the embedded store, as people and Prometheus' clients ask for it. */
export class Dropping {
  readonly #parts: DroppingParts;

  constructor(parts: DroppingParts) {
    this.#parts = parts;
  }

  /** Counts what a selection would drop. */
  count(asked: DropAsked, signal: AbortSignal): Promise<DropCount> {
    return this.#embedded().call('dropCount', asked, { timeoutMs: countMs, signal });
  }

  /** Drops a selection from memory; what is on disk follows. */
  begin(asked: DropAsked, asker: string): Promise<Drop> {
    return this.#embedded().call('drop', { asked, asker });
  }

  /** Resolves with the drop when it has ended, or as it is when the caller no longer waits. */
  async ended(
    { id }: Pick<Drop, 'id'>,
    within: { readonly ms: number; readonly signal: AbortSignal },
  ) {
    const { clock, scope } = this.#parts;
    const until = clock.monotonic() + within.ms;
    for (;;) {
      const drop = (await this.list()).find((one) => one.id === id);
      if (
        drop === undefined ||
        drop.ended !== undefined ||
        within.signal.aborted ||
        scope.signal.aborted ||
        clock.monotonic() >= until
      ) {
        return drop;
      }
      await this.#pause();
    }
  }

  /** Lists drops of late, oldest first; none if another driver keeps the samples. */
  list(): Promise<readonly Drop[]> {
    return this.#parts.driver().name === 'embedded'
      ? this.#parts.thread.call('drops', undefined)
      : Promise.resolve([]);
  }

  #pause(): Promise<void> {
    const { scope } = this.#parts;
    return new Promise((resolve) => {
      const end = (): void => {
        scope.signal.removeEventListener('abort', end);
        resolve();
      };
      scope.signal.addEventListener('abort', end);
      scope.timeout('look how far a drop is', lookMs, end);
    });
  }

  #embedded(): ThreadHandle {
    const { name } = this.#parts.driver();
    if (name !== 'embedded') {
      throw errors.drop_elsewhere({ driver: name });
    }
    return this.#parts.thread;
  }
}

/** Word that confirms the drop of a selection: another selection has another one. */
export const confirmationOf = (pairs: Pairs): string =>
  createHash('sha256').update(JSON.stringify(pairs)).digest('hex').slice(0, 8);
