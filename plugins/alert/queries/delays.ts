import type { MetricsQueries } from 'svc/contracts/metricsdb';
import { type Handle, messageOf, type PluginContext } from 'svc/sdk';

import type { StoreName } from './back-end.ts';

/** Delay of logs, and of an external server, until they have the data of a slot. */
const logsMs = 10_000;
const remoteMs = 30_000;

/** Delays until the samples of a slot are available. */
export class Delays {
  #metricsMs = 0;

  readonly of = (store: StoreName): number => (store === 'metrics' ? this.#metricsMs : logsMs);

  /** Asks the metrics store where it is; while it does not answer, its last answer counts. */
  async learn(metrics: Handle<MetricsQueries>, log: PluginContext['log']): Promise<void> {
    try {
      const { driver } = await metrics.get().status();
      this.#metricsMs = driver === 'embedded' ? 0 : remoteMs;
    } catch (error) {
      log.debug(
        { cause: messageOf(error) },
        'reading the metrics store driver failed; keeping the last known delay',
      );
    }
  }
}
