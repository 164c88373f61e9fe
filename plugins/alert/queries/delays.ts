import type { LogQueries } from 'svc/contracts/logs';
import type { MetricsQueries } from 'svc/contracts/metricsdb';
import { type Handle, messageOf, type PluginContext } from 'svc/sdk';

import type { StoreName } from './back-end.ts';

/** Delay of logs, and of an external server, until they have the data of a slot. */
const logsMs = 10_000;
const remoteMs = 30_000;
/** Time for which a store may fail before that is told: one of svc may be opening, with a log to read. */
const openingMs = 60_000;
const externalMs = 5_000;

type Stores = Readonly<Record<StoreName, Handle<Pick<MetricsQueries | LogQueries, 'status'>>>>;

/** Delays until the samples of a slot are available, and until a store that fails is told. */
export class Delays {
  readonly #drivers = new Map<StoreName, string>();

  readonly of = (store: StoreName): number => {
    const isOwn = (this.#drivers.get(store) ?? 'embedded') === 'embedded';
    return store === 'logs' ? logsMs : isOwn ? 0 : remoteMs;
  };

  readonly graceOf = (store: StoreName): number =>
    this.#drivers.get(store) === 'remote' ? externalMs : openingMs;

  /** Asks the stores where they are; while one does not answer, its last answer counts. */
  async learn(stores: Stores, log: PluginContext['log']): Promise<void> {
    await Promise.all(
      (['metrics', 'logs'] as const).map(async (store) => {
        try {
          this.#drivers.set(store, (await stores[store].get().status()).driver);
        } catch (error) {
          log.debug(
            { cause: messageOf(error), store },
            "failed to read a store's driver; keeping the last known delay",
          );
        }
      }),
    );
  }
}
