import type { Clock, Handle, SelfObservation } from 'svc/sdk';

import type { MetricsIngest, SampleRow } from '../metricsdb/contract.ts';
import type { Keeper } from './keeper.ts';

export interface MetricsFeedParts {
  readonly self: SelfObservation;
  readonly store: Handle<MetricsIngest>;
  readonly keeper: Keeper;
  readonly clock: Clock;
  readonly instance: string;
}

export interface MetricsFeed {
  /** One scrape of this process. */
  scrape(): Promise<void>;
  /** Says that nothing more will come, so that nobody sees the last values as those of now. */
  end(): Promise<void>;
}

/** What a scrape of this process would see, as rows; a scrape that cannot be kept is over, the next one says more. */
export function metricsFeed({ self, store, keeper, clock, instance }: MetricsFeedParts): MetricsFeed {
  const own = { job: 'svc', instance };
  return {
    async scrape() {
      if (!store.available) {
        return;
      }
      const time = clock.now();
      const rows = (await self.gather()).map(({ name, labels, value }): SampleRow => ({ labels: { ...labels, ...own, __name__: name }, time, value }));
      if (!(await keeper.keep('metrics', store, rows.length, (metrics) => metrics.write(rows)))) {
        keeper.lost('metrics', rows.length, 'unavailable');
      }
    },
    async end() {
      await keeper.keep('metrics', store, 0, async (metrics) => {
        const matchers = Object.entries(own).map(([name, value]) => ({ name, op: '=' as const, value }));
        await metrics.end(matchers, clock.now());
        return { accepted: 0, rejected: 0, reasons: [] };
      });
    },
  };
}
