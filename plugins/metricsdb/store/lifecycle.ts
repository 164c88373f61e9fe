import type { Logger } from 'svc/sdk';

import { errors } from './errors.ts';
import { openMetricsStore } from './open-store.ts';
import { type MetricsStore } from './store.ts';
import { type MetricsLimits } from './upkeep/limits.ts';

export interface StoreLifecycleOptions {
  readonly folder: string;
  readonly now: () => number;
  readonly log: Logger;
}

/** Keeps the store open under the limits in force; other limits are another opening, between two uses. */
export class StoreLifecycle {
  readonly #options: StoreLifecycleOptions;
  #limits: Partial<MetricsLimits> | undefined;
  #isWanted = false;
  #store: MetricsStore | undefined;
  /** Uses that come while it changes wait for this. */
  #changing: Promise<void> = Promise.resolve();
  #changes = 0;
  #uses = 0;
  #idle: (() => void) | undefined;

  constructor(options: StoreLifecycleOptions) {
    this.#options = options;
  }

  /**
   * Opens the store with these limits, or closes it (undefined). `anew` closes an open store first.
   * Resolves once that has taken effect.
   */
  apply(limits: Partial<MetricsLimits> | undefined, anew = false): Promise<void> {
    this.#isWanted = limits !== undefined;
    const change = this.#changing.then(() => this.#change(limits, anew));
    this.#changes += 1;
    this.#changing = change.then(
      () => void (this.#changes -= 1),
      () => void (this.#changes -= 1),
    );
    return change;
  }

  /** True if a store is open, or about to be. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  async use<T>(work: (store: MetricsStore) => T | Promise<T>): Promise<T> {
    while (this.#changes > 0) {
      await this.#changing;
    }
    if (this.#store === undefined) {
      throw errors.no_store();
    }
    this.#uses += 1;
    try {
      return await work(this.#store);
    } finally {
      this.#uses -= 1;
      if (this.#uses === 0) {
        this.#idle?.();
      }
    }
  }

  async #change(limits: Partial<MetricsLimits> | undefined, anew: boolean): Promise<void> {
    if (
      !anew &&
      JSON.stringify(limits) === JSON.stringify(this.#limits) &&
      (this.#store === undefined) === (limits === undefined)
    ) {
      return;
    }
    if (this.#uses > 0) {
      await new Promise<void>((resolve) => (this.#idle = resolve));
      this.#idle = undefined;
    }
    const open = this.#store;
    this.#store = undefined;
    await open?.close();
    this.#limits = limits;
    if (limits !== undefined) {
      this.#store = await openMetricsStore({ ...this.#options, limits });
    }
  }
}
