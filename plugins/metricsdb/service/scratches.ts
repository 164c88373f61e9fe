import type { InstantAnswer, QueryOptions, ScratchRow } from 'svc/contracts/metricsdb';
import type { QueryRunner } from 'svc/query';

import { instant } from '../promql/index.ts';
import type { QueryLimits } from '../thread/contract.ts';
import { errors } from './errors.ts';
import { instantAnswerOf } from './matrix.ts';
import { ScratchStore } from './scratch-store.ts';

const maxOpen = 8;
const idleMs = 300_000;

interface Scratch {
  readonly store: ScratchStore;
  readonly asker: string | undefined;
  usedAt: number;
}

/** Stores in memory that others try things out on; the engine and its limits are those of every other question. */
export class Scratches {
  readonly #open = new Map<number, Scratch>();
  readonly #runner: QueryRunner<QueryLimits>;
  readonly #now: () => number;
  #last = 0;

  constructor(runner: QueryRunner<QueryLimits>, now: () => number) {
    this.#runner = runner;
    this.#now = now;
  }

  /** Deletes stores that have not been used for long. */
  forget(): void {
    for (const [id, { usedAt }] of this.#open) {
      if (this.#now() - usedAt > idleMs) {
        this.#open.delete(id);
      }
    }
  }

  methods() {
    return {
      scratchOpen: ({ asker }: Pick<QueryOptions, 'asker'>): number => {
        this.forget();
        if (this.#open.size >= maxOpen) {
          throw errors.too_many_scratches({ max: maxOpen });
        }
        this.#last += 1;
        this.#open.set(this.#last, { store: new ScratchStore(), asker, usedAt: this.#now() });
        return this.#last;
      },
      scratchWrite: ({
        id,
        rows,
      }: {
        readonly id: number;
        readonly rows: readonly ScratchRow[];
      }): void => this.#used(id).store.add(rows),
      scratchInstant: (
        { id, query, time }: { readonly id: number; readonly query: string; readonly time: number },
        { signal }: { readonly signal: AbortSignal },
      ): Promise<InstantAnswer> =>
        this.#runner.run({ asker: this.#used(id).asker, signal }, async (budget) => {
          const { delayedNameRemoval } = this.#runner.limits;
          return instantAnswerOf(
            await instant(this.#used(id).store, { query, time, delayedNameRemoval }, budget),
          );
        }),
      scratchClose: ({ id }: { readonly id: number }): void => void this.#open.delete(id),
    };
  }

  #used(id: number): Scratch {
    const scratch = this.#open.get(id);
    if (scratch === undefined) {
      throw errors.scratch_closed();
    }
    scratch.usedAt = this.#now();
    return scratch;
  }
}
