import type { MetricsIngest, SampleRow } from 'svc/contracts/metricsdb';
import type { Clock, Handle, SelfObservation } from 'svc/sdk';

import type { Delivery } from './delivery.ts';

export interface MetricsFeedParts {
  readonly self: SelfObservation;
  readonly store: Handle<MetricsIngest>;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly instance: string;
}

/**
 * Feed of this process's metrics as rows; a scrape that cannot be stored is lost, as the next one
 * covers it.
 */
export class MetricsFeed {
  readonly #parts: MetricsFeedParts;
  readonly #labels: Readonly<Record<string, string>>;

  constructor(parts: MetricsFeedParts) {
    this.#parts = parts;
    this.#labels = { job: 'svc', instance: parts.instance };
  }

  async scrape(): Promise<void> {
    const { self, store, delivery, clock } = this.#parts;
    if (!store.available) {
      return;
    }
    const time = clock.now();
    const samples = await self.gather();
    const rows = samples.map(({ name, labels, value }): SampleRow => ({
      labels: { ...labels, ...this.#labels, __name__: name },
      time,
      value,
    }));
    if (
      !(await delivery.deliver('metrics', store, rows.length, (metrics) => metrics.write(rows)))
    ) {
      delivery.countLost('metrics', rows.length, 'unavailable');
    }
  }

  /** Ends the series, so that their last values do not pass for those of now. */
  async end(): Promise<void> {
    const { store, delivery, clock } = this.#parts;
    const matchers = Object.entries(this.#labels).map(([name, value]) => ({
      name,
      op: '=' as const,
      value,
    }));
    await delivery.deliver('metrics', store, 0, async (metrics) => {
      await metrics.end(matchers, clock.now());
      return { accepted: 0, rejected: 0, reasons: [] };
    });
  }
}
