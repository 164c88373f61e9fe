import { hostname } from 'node:os';

import { BuildInfo, definePlugin, type PluginContext, Self } from 'svc/sdk';

import { createKeeper } from './keeper.ts';
import type { Feed } from './feed.ts';
import { logFeed } from './log-feed.ts';
import { metricsFeed } from './metrics-feed.ts';
import { storesOf } from './stores.ts';
import { traceFeed } from './trace-feed.ts';

const scrapeMs = 15_000;
const flushMs = 5_000;
/** What the start itself has to tell should not have to wait for the first round. */
const firstMs = 500;

export default definePlugin({
  activate(ctx) {
    const { services, settings, clock, ids, log } = ctx;
    const self = services.use(Self);
    const keeper = createKeeper({ self, metrics: ctx.metrics, log });
    const instance = hostname();
    const stores = storesOf(ctx);
    const parts = { keeper, instance };
    return {
      self,
      metrics: metricsFeed({ ...parts, self, clock, store: stores.metrics }),
      logs: logFeed({ ...parts, store: stores.logs }),
      traces: traceFeed({
        keeper,
        ids,
        store: stores.traces,
        source: { instance, version: services.use(BuildInfo).version },
        choice: () => ({ ratio: settings.get<number>('self.trace_ratio'), slowMs: settings.get<number>('self.slow_ms') }),
      }),
    };
  },
  start(ctx, { self, metrics, logs, traces }) {
    feed(ctx, 'self.logs', logs, (take) => self.onLine(take));
    feed(ctx, 'self.traces', traces, (take) => self.onRequest(take));

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

/** Listens while its setting says so, and gives what it heard to the store in rounds, the last one when it leaves. */
function feed<T>(ctx: PluginContext, key: string, { take, flush, forget }: Feed<T>, listen: (take: (item: T) => void) => () => void): void {
  let leave: (() => void) | undefined;
  const settle = (on: boolean): void => {
    if (on) {
      leave ??= listen(take);
    } else {
      leave?.();
      leave = undefined;
      forget();
    }
  };
  ctx.scope.defer(`leave ${key}`, async () => {
    leave?.();
    await flush();
  });
  settle(ctx.settings.get<boolean>(key));
  ctx.settings.watch<boolean>(key, settle);
  ctx.scope.timeout(`flush ${key} for the first time`, firstMs, flush);
  ctx.scope.interval(`flush ${key}`, flushMs, flush);
}
