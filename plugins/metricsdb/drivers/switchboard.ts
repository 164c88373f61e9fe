import { messageOf } from 'svc/sdk';

import type { Driver, DriverName } from './driver.ts';
import { errors } from './errors.ts';
import type { Launched } from './settings.ts';

/** Dependencies of the switchboard. */
export interface Supply {
  /**
   * Returns the driver that the settings name now, with its inputs: another text is another driver.
   */
  wanted(): { readonly name: DriverName; readonly recipe: string };
  make(name: DriverName): Driver;
  /** Tells the thread what it has to keep and compute for this driver. */
  settle(name: DriverName): Promise<void>;
  /** Closes and opens what the thread keeps. */
  reopen(name: DriverName): Promise<void>;
  /**
   * Remembers the options until the returned function removes them again; throws if the settings
   * override them.
   */
  remember(launched: Launched): () => void;
}

/**
 * Switchboard that holds the active driver, and replaces it when the settings change; one change at
 * a time.
 */
export class Switchboard {
  readonly #supply: Supply;
  #driver: Driver;
  #recipe: string;
  #changing: Promise<unknown> = Promise.resolve();
  /** Changes that are under way or wait for their turn. */
  #turns = 0;

  constructor(supply: Supply) {
    this.#supply = supply;
    const { name, recipe } = supply.wanted();
    this.#driver = supply.make(name);
    this.#recipe = recipe;
  }

  get driver(): Driver {
    return this.#driver;
  }

  /** Applies the settings. */
  async settle(): Promise<void> {
    const { name, recipe } = this.#supply.wanted();
    if (this.#turns === 0 && recipe === this.#recipe) {
      // Sent immediately: a query after the change uses it, however busy the thread is.
      await this.#supply.settle(name);
      return;
    }
    const { applied } = await this.#inTurn(() => this.#switch(false));
    await applied;
  }

  /**
   * Applies the options and restarts the driver even if nothing has changed. A driver that does not
   * answer then gives way to the previous one.
   */
  launch(launched: Launched): Promise<Driver> {
    return this.#inTurn(async () => {
      const forget = this.#supply.remember(launched);
      try {
        await (
          await this.#switch(true)
        ).applied;
        await demandAnswer(this.#driver);
        return this.#driver;
      } catch (error) {
        forget();
        await (
          await this.#switch(false)
        ).applied;
        throw error;
      }
    });
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#driver.close());
  }

  /** Resolves once the driver is the one that is wanted; `applied`, once the thread knows it as well. */
  async #switch(anew: boolean): Promise<{ readonly applied: Promise<void> }> {
    const { name, recipe } = this.#supply.wanted();
    const other = anew || recipe !== this.#recipe;
    if (name === 'embedded') {
      await (anew && this.#driver.name === 'embedded'
        ? this.#supply.reopen(name)
        : this.#supply.settle(name));
    }
    if (other) {
      await this.#replace(name, recipe);
    }
    // Other drivers do not need the thread to answer: a changed setting applies immediately.
    return { applied: name === 'embedded' ? Promise.resolve() : this.#supply.settle(name) };
  }

  async #replace(name: DriverName, recipe: string): Promise<void> {
    // Two programs must not have one folder.
    await this.#driver.close();
    this.#driver = this.#supply.make(name);
    this.#recipe = recipe;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#turns += 1;
    const turn = this.#changing.then(work).finally(() => (this.#turns -= 1));
    this.#changing = turn.catch((error: unknown) => messageOf(error));
    return turn;
  }
}

async function demandAnswer(driver: Driver): Promise<void> {
  const { ok, detail = 'no reason given' } = await driver.probe();
  if (!ok) {
    throw errors.not_answering({ name: driver.name, detail }, { retryAfterSeconds: 5 });
  }
}
