import { hostname } from 'node:os';

import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { TraceIngest } from 'svc/contracts/traces';
import { BuildInfo, definePlugin, type PluginContext, Self } from 'svc/sdk';

import { Delivery } from './delivery.ts';
import { LogFeed } from './log-feed.ts';
import { MetricsFeed } from './metrics-feed.ts';
import { TraceFeed } from './trace-feed.ts';

const scrapeMs = 15_000;
const flushMs = 5_000;
/** Delay of the first round: what the start itself reports should not wait for a regular one. */
const firstMs = 500;

export default definePlugin({
  activate(ctx) {
    const { services, settings, clock, ids, log } = ctx;
    const self = services.use(Self);
    const delivery = new Delivery({ self, metrics: ctx.metrics, log });
    const instance = hostname();
    return {
      self,
      metrics: new MetricsFeed({
        delivery,
        instance,
        self,
        clock,
        store: services.maybe(MetricsIngest),
      }),
      logs: new LogFeed({ delivery, instance, store: services.maybe(LogIngest) }),
      traces: new TraceFeed({
        delivery,
        ids,
        store: services.maybe(TraceIngest),
        source: { instance, version: services.use(BuildInfo).version },
        choice: () => ({
          ratio: settings.get<number>('self.trace_ratio'),
          slowMs: settings.get<number>('self.slow_ms'),
        }),
      }),
    };
  },
  start(ctx, { self, metrics, logs, traces }) {
    follow(ctx, 'self.logs', logs, (take) => self.onLine(take));
    follow(ctx, 'self.traces', traces, (take) => self.onRequest(take));

    const scrape = async (): Promise<void> => {
      if (ctx.settings.get<boolean>('self.metrics')) {
        await metrics.scrape();
      }
    };
    ctx.scope.timeout('scrape this process for the first time', firstMs, scrape);
    ctx.scope.interval('scrape this process', scrapeMs, scrape);
    ctx.settings.watch<boolean>('self.metrics', (on) => (on ? undefined : metrics.end()));
  },
});

interface Followed<T> {
  add(item: T): void;
  flush(): Promise<void>;
  clear(): void;
}

/**
 * Collects while its setting is on, and passes the results to the store in rounds, the last one
 * when it stops.
 */
function follow<T>(
  ctx: PluginContext,
  key: string,
  feed: Followed<T>,
  listen: (take: (item: T) => void) => () => void,
): void {
  let leave: (() => void) | undefined;
  const settle = (on: boolean): void => {
    if (on) {
      leave ??= listen((item) => feed.add(item));
    } else {
      leave?.();
      leave = undefined;
      feed.clear();
    }
  };
  ctx.scope.defer(`leave ${key}`, async () => {
    leave?.();
    await feed.flush();
  });
  settle(ctx.settings.get<boolean>(key));
  ctx.settings.watch<boolean>(key, settle);
  ctx.scope.timeout(`flush ${key} for the first time`, firstMs, () => feed.flush());
  ctx.scope.interval(`flush ${key}`, flushMs, () => feed.flush());
}
